import type { RequestForm } from '../../core/endpoints.ts'

/** What an upstream of the OpenAI format gets, apart from what differs by vendor. */
export const openAiForm = Object.freeze({
  takesCacheControl: false,
  ignoresUnknown: false,
  takesThinking: false,
  takesThinkingBlocks: false,
  takesTopK: false,
  // https://platform.openai.com/docs/api-reference/chat/create: tool messages hold only texts, and files
  // come with their data or by the id of an uploaded one.
  takesResultMedia: false,
  takesResultErrors: false,
  takesFileAddresses: false,
} as const satisfies Partial<RequestForm>)

/** For kinds that translate the request anyway. */
export const translatedForm: RequestForm = Object.freeze({
  boundField: 'max_completion_tokens',
  asksStreamUsage: true,
  takesEffort: true,
  takesCacheControl: false,
  ignoresUnknown: true,
  takesThinking: false,
  takesThinkingBlocks: false,
  takesTopK: true,
  takesResultMedia: false,
  takesResultErrors: false,
  takesFileAddresses: true,
})

/** The same for Claude, which has marks for its prompt cache, and proofs of its thinking. */
export const claudeForm: RequestForm = Object.freeze({
  ...translatedForm,
  takesCacheControl: true,
  takesThinking: true,
  takesThinkingBlocks: true,
  takesResultMedia: true,
  takesResultErrors: true,
})
