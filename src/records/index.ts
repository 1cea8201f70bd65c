export { auditLog } from './audit-log.ts'
export { RecordBatcher } from './batcher.ts'
export { loginLog, type RefusalLog, unroutedLog } from './refusal-log.ts'
export { requestLogSink } from './request-log.ts'
