export { Activity } from './activity.ts'
export { Prober } from './prober.ts'
export { healthReport } from './report.ts'
