import { kinds } from '../../../src/providers/index.ts'

/** The kinds by the prefixes of LiteLLM that differ from them. */
const kindNames: Readonly<Record<string, string>> = {
  gemini: 'google',
  together_ai: 'together',
  fireworks_ai: 'fireworks',
  hosted_vllm: 'vllm',
  nvidia_nim: 'nvidia',
  jina_ai: 'jina',
  cohere_chat: 'cohere',
  ollama_chat: 'ollama',
  openai_like: 'openai',
  custom_openai: 'openai',
}

/** Splits `groq/llama` into kind and model; without a prefix the kind is `openai`. */
export function splitModel(model: string): { readonly kind: string; readonly upstreamId: string } {
  const [, prefix = '', rest = ''] = /^([^/]+)\/(.+)$/.exec(model) ?? []
  const kind = kindNames[prefix] ?? prefix
  const isKnown = kinds.some(({ name }) => name === kind)
  if (isKnown) return { kind, upstreamId: rest.replace(/^(?:converse|converse_like|invoke)\//, '') }
  return prefix === '' ? { kind: 'openai', upstreamId: model } : { kind: '', upstreamId: rest }
}
