export { silentLog, webClock, webResponse, webStreams, webUpstream } from './ports.ts'
