export { chat } from './chat.ts'
export { embeddings } from './embeddings.ts'
export { describeModel, listModels } from './listing.ts'
export { type Arrival, DataPlane } from './plane.ts'
