export { findPortWarnings } from './port-warnings.ts'
export { ConfigReloader } from './reloader.ts'
