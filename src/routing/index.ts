export { type Conditions, orderLinks } from './order.ts'
export { type LinkRun, type Traffic, TrafficInProcess } from './traffic.ts'
