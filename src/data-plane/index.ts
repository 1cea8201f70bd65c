export type { KeptAnswer } from './cache/use.ts'
export { type CountCall, type CountDoor, serveCounts } from './chat/count-tokens.ts'
export type {
  ChatDoor,
  DoorCall,
  EarlyWriter,
  LinkCall,
  WriterContext,
} from './chat/door.ts'
export { createChatService } from './chat/service.ts'
export { typesafeListing } from './decisions/listing.ts'
export { decisions, systemOne } from './decisions/service.ts'
export {
  type EmbedDoor,
  type EmbedDoorCall,
  getEndpoint,
  type VectorWriting,
} from './embeddings/door.ts'
export { maxItems } from './embeddings/input.ts'
export { openAiEmbeddings } from './embeddings/open-ai.ts'
export { createEmbedService } from './embeddings/service.ts'
export { type Explanation, renderExplanation } from './explain/explanation.ts'
export { findAllowed, listAllowed, type ModelListing, plainListing } from './models/listing.ts'
export { type Arrival, DataPlane, type ExplainedArrival } from './plane.ts'
export { noAttempts } from './request/admitted.ts'
export { rerank } from './rerank/service.ts'
export type { ReceivedRequest } from './serve/received-request.ts'
export type { Service } from './serve/service.ts'
