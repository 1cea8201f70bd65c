export { createLoader, requireValid } from './loader.ts'
export { ConfigReloader } from './reloader.ts'
