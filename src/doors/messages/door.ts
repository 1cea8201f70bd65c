import type { ChatDoor } from '../../data-plane/index.ts'
import { messagesForm } from './error.ts'
import { readMessagesRequest } from './request.ts'

/** The Messages API of Anthropic. */
export const messagesDoor: ChatDoor = Object.freeze({
  api: 'messages',
  paths: ['/v1/messages'],
  absent: {
    '/v1/messages/:id+':
      'no such route; below /v1/messages there is only POST /v1/messages/count_tokens',
  },
  form: messagesForm,
  read: readMessagesRequest,
} satisfies ChatDoor)
