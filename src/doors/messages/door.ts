import type { ChatDoor } from '../../data-plane/index.ts'
import { messagesForm } from './error.ts'
import { readMessages } from './request.ts'

/** The Messages API of Anthropic. */
export const messagesDoor: ChatDoor = Object.freeze({
  api: 'messages',
  path: '/v1/messages',
  form: messagesForm,
  read: readMessages,
})
