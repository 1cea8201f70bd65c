import type { ChatDoor } from '../../data-plane/index.ts'
import { renderResponsesError } from './error.ts'
import { readResponses } from './request.ts'

/** The Responses API of OpenAI. https://platform.openai.com/docs/api-reference/responses */
export const responsesDoor: ChatDoor = Object.freeze({
  api: 'responses',
  path: '/v1/responses',
  form: { renderError: renderResponsesError },
  read: readResponses,
} satisfies ChatDoor)
