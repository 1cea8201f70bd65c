import type { ChatDoor } from '../../data-plane/index.ts'
import { renderResponsesError } from './error.ts'
import { readResponses } from './request.ts'

/** The Responses API of OpenAI. https://platform.openai.com/docs/api-reference/responses */
export const responsesDoor: ChatDoor = Object.freeze({
  api: 'responses',
  paths: ['/v1/responses'],
  absent: {
    '/v1/responses/:id+':
      'no such route; only POST /v1/responses exists, because the id of a response names no model',
  },
  form: { renderError: renderResponsesError },
  read: readResponses,
} satisfies ChatDoor)
