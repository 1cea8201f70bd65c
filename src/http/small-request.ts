import type { Capability } from '../core/capability.ts'
import { invalid } from '../core/errors.ts'
import type { Model } from '../core/provider.ts'

/** A request of the data plane that costs next to nothing. */
export interface SmallRequest {
  readonly path: string
  readonly body: object
}

/** What OpenAI's Responses API accepts at least. */
const leastTokens = 16

/**
 * Returns the smallest request that a model answers. One for chat is a Messages request: for upstreams of the OpenAI
 * format the gateway then writes it as their profile demands. Throws LM-1001 for a model without a capability.
 */
export function toSmallRequest({ id: model, capabilities, decisions }: Model): SmallRequest {
  const capability = order.find((one) => capabilities.includes(one))
  switch (capability) {
    case 'chat': {
      const messages = [{ role: 'user', content: 'Hi' }]
      return {
        path: '/v1/messages',
        body: { model, max_tokens: leastTokens, stream: true, messages },
      }
    }
    case 'embed':
      return { path: '/v1/embeddings', body: { model, input: 'Hi' } }
    case 'rerank':
      return { path: '/v1/rerank', body: { model, query: 'Hi', documents: ['Hi'] } }
    case 'decisions':
      return decisions?.form === 'typesafe'
        ? {
            path: '/v1/systemone',
            body: {
              model,
              state: 'Hi',
              questions: { greeting: { type: 'noul', instructions: 'Is it a greeting?' } },
            },
          }
        : {
            path: '/v1/decisions',
            body: {
              model,
              input: 'Hi',
              questions: [{ type: 'predicate', instructions: 'It is a greeting.' }],
            },
          }
    case undefined:
      throw invalid(`model: ${model} has no capability that can be asked`, 'model')
    default:
      return capability satisfies never
  }
}

const order: readonly Capability[] = ['chat', 'embed', 'rerank', 'decisions']
