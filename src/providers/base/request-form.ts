import type { RequestForm } from '../../core/endpoints.ts'

/** For upstreams of the OpenAI format: their profile decides what becomes of a request. */
export const profiledForm: RequestForm = Object.freeze({
  boundField: 'max_completion_tokens',
  asksStreamUsage: true,
  takesCacheControl: false,
  ignoresUnknown: false,
  takesThinkingBlocks: false,
  takesClientTools: false,
  takesTopK: true,
  // https://platform.openai.com/docs/api-reference/chat/create: tool messages hold only texts, and files
  // come with their data or by the id of an uploaded one.
  takesResultMedia: false,
  takesResultErrors: false,
  takesFileAddresses: false,
})

/** For kinds that translate the request anyway. */
export const translatedForm: RequestForm = Object.freeze({
  boundField: 'max_completion_tokens',
  asksStreamUsage: true,
  takesCacheControl: false,
  ignoresUnknown: true,
  takesThinkingBlocks: false,
  takesClientTools: false,
  takesTopK: true,
  takesResultMedia: false,
  takesResultErrors: false,
  takesFileAddresses: true,
})

/** The same for Claude, which has marks for its prompt cache, and proofs of its thinking. */
export const claudeForm: RequestForm = Object.freeze({
  ...translatedForm,
  takesCacheControl: true,
  takesThinkingBlocks: true,
  takesClientTools: true,
  takesResultMedia: true,
  takesResultErrors: true,
})
