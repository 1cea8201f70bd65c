export { chat } from './chat.ts'
export { describeModel, listModels } from './listing.ts'
export { type Arrival, DataPlane } from './plane.ts'
