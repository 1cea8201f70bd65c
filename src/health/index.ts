export { Activity } from './activity.ts'
export { Prober } from './prober.ts'
export { createHealthReport } from './report.ts'
