export { createLoader, requireValid } from './loader.ts'
export { ConfigReloader, configTopic, type ServedConfig } from './reloader.ts'
