export { Activity } from './activity.ts'
export { Prober } from './prober.ts'
export { Readiness } from './readiness.ts'
export {
  createHealthReport,
  type HealthReport,
  healthTopic,
  mergeHealthReports,
} from './report.ts'
