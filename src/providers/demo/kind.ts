import type { ProviderKind } from '../../core/provider-kind.ts'
import { resultsRerank } from '../base/rerank-results.ts'
import { openAiChat } from '../openai/chat.ts'
import { openAiCompletions } from '../openai/completions.ts'
import { bindDecisions } from '../openai/decisions.ts'
import { openAiEmbed, openAiEmbedDefaults } from '../openai/embed.ts'
import { resolveProfile } from '../profiles/index.ts'
import { createDemoUpstream } from './upstream.ts'

/**
 * A vendor inside the process, without a key or the network. It speaks the OpenAI format through the same
 * pipeline as every other kind, so that all features can be tried and rehearsed.
 */
export const demo: ProviderKind = Object.freeze({
  name: 'demo',
  capabilities: ['chat', 'embed', 'rerank', 'decisions'],
  defaultBaseUrl: 'http://demo.invalid/v1',
  keyless: true,
  ownSettings: ['latency_ms', 'tokens_per_second', 'failure_rate'],
  canFetchImages: true,
  createAuthorizer: () => () => ({}),
  createUpstream: createDemoUpstream,
  // Its streams always report usage.
  chat: (target) =>
    openAiChat({
      url: `${target.baseUrl}/chat/completions`,
      upstreamId: target.upstreamId,
      modelId: target.modelId,
      streamUsage: 'not-asked',
      asksStreamUsage: true,
      profile: resolveProfile({ kind: 'demo', ...target, settings: [] }),
    }),
  native: {
    completions: ({ baseUrl, upstreamId }) =>
      openAiCompletions({
        url: `${baseUrl}/completions`,
        upstreamId,
        streamUsage: 'not-asked',
      }),
  },
  embed: ({ baseUrl, upstreamId }) =>
    openAiEmbed({ ...openAiEmbedDefaults, url: `${baseUrl}/embeddings`, upstreamId }),
  rerank: ({ baseUrl, upstreamId }) => resultsRerank({ url: `${baseUrl}/rerank`, upstreamId }),
  decisions: (target) => bindDecisions(target, { form: 'openai' }),
} satisfies ProviderKind)
