export { serveChat } from './chat.ts'
export type {
  ChatDoor,
  DoorCall,
  LinkCall,
  ReceivedRequest,
  WriterContext,
} from './chat-door.ts'
export { embeddings } from './embeddings.ts'
export { describeModel, listModels } from './listing.ts'
export { type Arrival, DataPlane } from './plane.ts'
export { rerank } from './rerank.ts'
