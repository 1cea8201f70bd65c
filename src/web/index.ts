export { webClock } from './clock.ts'
export { silentLog } from './log.ts'
export { webResponse, webStreams } from './response.ts'
export { webUpstream } from './upstream.ts'
