import type { Demand } from '../core/admission.ts'
import type { ChatRequest } from '../core/chat.ts'
import type { EmbedCall } from '../core/embeddings.ts'
import type { RerankCall } from '../core/rerank.ts'
import { estimateEmbed, estimateRerank, promptTokens } from '../tokens/index.ts'
import { unitsOf } from './rerank-counts.ts'

/** What a chat request may use. */
export function chatDemand(request: ChatRequest): Demand {
  return {
    promptTokens: promptTokens(request),
    output: {
      maxTokens: request.max_completion_tokens ?? request.max_tokens ?? undefined,
      choices: request.n ?? 1,
    },
  }
}

/** What an embeddings request may use: it generates nothing. */
export function embedDemand({ input }: EmbedCall): Demand {
  return { promptTokens: estimateEmbed(input) }
}

/** What a rerank request may use: vendors bill in units or in tokens, so it has both. */
export function rerankDemand(call: RerankCall): Demand {
  return { promptTokens: estimateRerank(call), searchUnits: unitsOf(call) }
}
