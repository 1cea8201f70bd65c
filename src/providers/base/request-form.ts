import type { RequestForm } from '../../core/endpoints.ts'

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
})

/** The same for Claude, which has marks for its prompt cache, and proofs of its thinking. */
export const claudeForm: RequestForm = Object.freeze({
  ...translatedForm,
  takesCacheControl: true,
  takesThinking: true,
  takesThinkingBlocks: true,
})
