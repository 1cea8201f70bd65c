import type { UsageEstimate } from '../core/admission.ts'
import { UntranslatableError } from '../core/cannot-express.ts'
import type { ChatCall, OutputEstimate } from '../core/chat.ts'
import type { EmbedCall } from '../core/embeddings.ts'
import type { ChatEndpoint, Model } from '../core/provider.ts'
import type { RerankCall } from '../core/rerank.ts'
import { estimateEmbed, estimateRerank } from '../tokens/index.ts'
import type { ParsedChat } from './chat-input.ts'
import { unitsOf } from './rerank-counts.ts'

/** What a chat request may use. */
export function estimateChatUsage(call: ParsedChat): UsageEstimate {
  return {
    promptTokens: call.promptTokens,
    output: (link) => estimateOutput(link, call),
  }
}

function estimateOutput(link: Model, call: ChatCall): OutputEstimate {
  // The route was chosen for its chat capability, so there is an endpoint.
  const endpoint = link.chat as ChatEndpoint
  try {
    return endpoint.estimateOutput(call)
  } catch (error) {
    if (error instanceof UntranslatableError) return nothing
    throw error
  }
}

/** A link that cannot express the request is never asked, so it writes nothing. */
const nothing: OutputEstimate = Object.freeze({ maxTokens: 0, isBounded: true, choices: 1 })

/** What an embeddings request may use: it generates nothing. */
export function estimateEmbedUsage({ input }: EmbedCall): UsageEstimate {
  return { promptTokens: estimateEmbed(input) }
}

/** What a rerank request may use: vendors bill in units or in tokens, so it has both. */
export function estimateRerankUsage(call: RerankCall): UsageEstimate {
  return { promptTokens: estimateRerank(call), searchUnits: unitsOf(call) }
}
