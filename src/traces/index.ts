export { noTrace } from './none.ts'
export { createStartTrace } from './recorded-trace.ts'
export type { CallTrace, RequestTrace, StartTrace } from './trace.ts'
