export { noAttempts } from './admitted-request.ts'
export { createChatService } from './chat.ts'
export type {
  ChatDoor,
  DoorCall,
  KeptAnswer,
  LinkCall,
  ReceivedRequest,
  WriterContext,
} from './chat-door.ts'
export { type CountCall, type CountDoor, serveCounts } from './count-tokens.ts'
export { embeddings } from './embeddings.ts'
export { type Explanation, renderExplanation } from './explanation.ts'
export { findAllowed, listAllowed, type ModelListing, plainListing } from './listing.ts'
export { type Arrival, DataPlane, type ExplainedArrival } from './plane.ts'
export { rerank } from './rerank.ts'
export type { Service } from './service.ts'
