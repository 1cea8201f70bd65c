import type { ProviderKind } from '../../core/provider.ts'
import { demoUpstream } from '../demo/upstream.ts'
import { openAiChat } from '../dialects/openai/chat.ts'
import { openAiEmbed, openAiHabits } from '../dialects/openai/embed.ts'
import { resultsRerank } from '../dialects/rerank/results.ts'

/**
 * A vendor inside the process: no key, no network. It speaks the OpenAI format through the same
 * pipeline as every other kind, so that all of it can be tried and rehearsed.
 */
export const demo: ProviderKind = Object.freeze({
  name: 'demo',
  capabilities: ['chat', 'embed', 'rerank'],
  defaultBaseUrl: 'http://demo.invalid/v1',
  keyless: true,
  ownSettings: ['latency_ms', 'tokens_per_second', 'failure_rate'],
  remoteImages: true,
  authorizer: () => () => ({}),
  upstream: demoUpstream,
  // Its streams report their usage without being asked.
  chat: ({ baseUrl, upstreamId }) =>
    openAiChat({ url: `${baseUrl}/chat/completions`, upstreamId, streamUsage: 'not-asked' }),
  embed: ({ baseUrl, upstreamId }) =>
    openAiEmbed({ ...openAiHabits, url: `${baseUrl}/embeddings`, upstreamId }),
  rerank: ({ baseUrl, upstreamId }) => resultsRerank({ url: `${baseUrl}/rerank`, upstreamId }),
} satisfies ProviderKind)
