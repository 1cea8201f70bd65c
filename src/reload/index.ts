export { portWarnings } from './port-warnings.ts'
export { ConfigReloader } from './reloader.ts'
