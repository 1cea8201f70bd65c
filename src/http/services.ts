import type { ErrorForm } from '../core/reply.ts'
import {
  createChatService,
  createEmbedService,
  decisions,
  rerank,
  type Service,
  systemOne,
} from '../data-plane/index.ts'
import { doors, embedDoors } from '../doors/index.ts'

/** A service of the data plane, and where it is. */
export interface ServicePlace {
  readonly service: Service
  /** The paths that are POSTed to. */
  readonly paths: readonly string[]
  /** The form of errors and headers; by default that of chat completions. */
  readonly form?: ErrorForm | undefined
}

/** Every service of the data plane. */
export const services: readonly ServicePlace[] = [
  ...doors.map((door) => ({
    service: createChatService(door),
    paths: door.paths,
    form: door.form,
  })),
  ...embedDoors.map((door) => ({
    service: createEmbedService(door),
    paths: door.paths,
    form: door.form,
  })),
  // The paths of the clients of Cohere, and of servers like Jina's, follow the gateway's own.
  { service: rerank, paths: ['/v1/rerank', '/v2/rerank', '/v1/v2/rerank', '/rerank'] },
  { service: decisions, paths: ['/v1/decisions'] },
  { service: systemOne, paths: ['/v1/systemone'] },
]
