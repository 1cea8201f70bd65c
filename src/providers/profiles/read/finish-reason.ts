import type { FinishReason } from '../../../stream/chunk-writer.ts'

/** By the references of Mistral, Z.ai, DeepSeek, SGLang, Together, TGI, OpenRouter and xAI, in lower case. */
const words: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['stop_sequence', 'stop'],
  ['end_turn', 'stop'],
  ['complete', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['sensitive', 'content_filter'],
  ['refusal', 'content_filter'],
  ['safety', 'content_filter'],
  ['recitation', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
])

const failures: ReadonlySet<string> = new Set([
  'error',
  'network_error',
  'insufficient_system_resource',
  'abort',
  'malformed_function_call',
])

/** True for a finish reason that says that the upstream failed. */
export function isFailedFinish(reason: unknown): reason is string {
  return typeof reason === 'string' && failures.has(reason.toLowerCase())
}

/** Returns OpenAI's word for a finish reason. An unknown word ends the answer like `stop`. */
export function mapFinishReason(reason: string, hasCalls: boolean): FinishReason {
  // xAI leaves it empty beside calls.
  if (reason === '' && hasCalls) return 'tool_calls'
  return words.get(reason.toLowerCase()) ?? 'stop'
}
