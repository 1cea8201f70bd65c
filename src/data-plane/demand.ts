import type { Demand } from '../core/admission.ts'
import { CannotExpress } from '../core/cannot-express.ts'
import type { ChatCall, OutputDemand } from '../core/chat.ts'
import type { EmbedCall } from '../core/embeddings.ts'
import type { ChatEndpoint, Model } from '../core/provider.ts'
import type { RerankCall } from '../core/rerank.ts'
import { estimateEmbed, estimateRerank } from '../tokens/index.ts'
import type { ParsedChat } from './chat-input.ts'
import { unitsOf } from './rerank-counts.ts'

/** What a chat request may use. */
export function chatDemand(call: ParsedChat): Demand {
  return {
    promptTokens: call.promptTokens,
    output: (link) => outputDemand(link, call),
  }
}

function outputDemand(link: Model, call: ChatCall): OutputDemand {
  // The route was chosen for its chat capability, so there is an endpoint.
  const endpoint = link.chat as ChatEndpoint
  try {
    return endpoint.outputDemand(call)
  } catch (error) {
    if (error instanceof CannotExpress) return nothing
    throw error
  }
}

/** A link that cannot express the request is never asked, so it writes nothing. */
const nothing: OutputDemand = Object.freeze({ maxTokens: 0, isBounded: true, choices: 1 })

/** What an embeddings request may use: it generates nothing. */
export function embedDemand({ input }: EmbedCall): Demand {
  return { promptTokens: estimateEmbed(input) }
}

/** What a rerank request may use: vendors bill in units or in tokens, so it has both. */
export function rerankDemand(call: RerankCall): Demand {
  return { promptTokens: estimateRerank(call), searchUnits: unitsOf(call) }
}
