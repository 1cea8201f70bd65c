export { Draws } from './draws.ts'
export { type Conditions, orderLinks } from './order.ts'
export { type LinkReport, type RouteReport, reportRoutes, type TargetReport } from './report.ts'
export { type LinkRun, type Traffic, TrafficInProcess } from './traffic.ts'
