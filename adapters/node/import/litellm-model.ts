import { kinds } from '../../../src/providers/index.ts'

/** The kinds by the prefixes of LiteLLM that differ from them. */
const kindNames: Readonly<Record<string, string>> = {
  gemini: 'google',
  vertex_ai_beta: 'vertex_ai',
  bedrock_converse: 'bedrock',
  together_ai: 'together',
  fireworks_ai: 'fireworks',
  hosted_vllm: 'vllm',
  nvidia_nim: 'nvidia',
  jina_ai: 'jina',
  cohere_chat: 'cohere',
  ollama_chat: 'ollama',
  openai_like: 'openai',
  custom_openai: 'openai',
  'text-completion-openai': 'openai',
}

/**
 * The vendors of ids without a prefix, which LiteLLM finds in a list of its own. An id of another vendor must not
 * become one of OpenAI, or its key would go there.
 *
 * @see https://docs.litellm.ai/docs/providers
 */
const bareModels: readonly (readonly [RegExp, string])[] = [
  [/^(?:gpt-|chatgpt-|o\d|ft:|text-embedding-|davinci|babbage|codex)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'vertex_ai'],
  [/^(?:command|embed-|rerank-)/, 'cohere'],
]

/** Splits `groq/llama` into kind and model. The kind is empty when there is none for the model. */
export function splitModel(
  model: string,
  given?: string | null,
): { readonly kind: string; readonly upstreamId: string } {
  if (given) return { kind: findKind(given), upstreamId: removePrefix(model, given) }
  const [, prefix = '', rest = ''] = /^([^/]+)\/(.+)$/.exec(model) ?? []
  if (prefix !== '') return { kind: findKind(prefix), upstreamId: removeRoute(rest) }
  const [, kind = ''] = bareModels.find(([form]) => form.test(model)) ?? []
  return { kind, upstreamId: model }
}

function findKind(prefix: string): string {
  const kind = kindNames[prefix] ?? prefix
  return kinds.some(({ name }) => name === kind) ? kind : ''
}

function removePrefix(model: string, prefix: string): string {
  return removeRoute(model.startsWith(`${prefix}/`) ? model.slice(prefix.length + 1) : model)
}

/** Which API of Bedrock LiteLLM uses. */
function removeRoute(model: string): string {
  return model.replace(/^(?:converse|converse_like|invoke)\//, '')
}
