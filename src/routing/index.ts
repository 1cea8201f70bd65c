export { type Conditions, orderLinks } from './order.ts'
