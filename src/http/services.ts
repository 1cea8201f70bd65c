import type { AnswerForm } from '../core/reply.ts'
import { createChatService, embeddings, rerank, type Service } from '../data-plane/index.ts'
import { doors } from '../doors/index.ts'

/** A service of the data plane, and where it is. */
export interface ServicePlace {
  readonly service: Service
  /** The paths that are POSTed to. */
  readonly paths: readonly string[]
  /** The form of errors and headers; by default that of chat completions. */
  readonly form?: AnswerForm | undefined
}

/** Every service of the data plane. */
export const services: readonly ServicePlace[] = [
  ...doors.map((door) => ({
    service: createChatService(door),
    paths: door.paths,
    form: door.form,
  })),
  { service: embeddings, paths: ['/v1/embeddings', '/openai/deployments/:model+/embeddings'] },
  // The paths of the clients of Cohere, and of servers like Jina's, follow the gateway's own.
  { service: rerank, paths: ['/v1/rerank', '/v2/rerank', '/v1/v2/rerank', '/rerank'] },
]
