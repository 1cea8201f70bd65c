import type { UsageEstimate } from '../core/admission.ts'
import type { ChatCall, OutputEstimate } from '../core/chat.ts'
import type { EmbedCall } from '../core/embeddings.ts'
import type { ChatEndpoint, Model } from '../core/provider.ts'
import type { RerankCall } from '../core/rerank.ts'
import { UntranslatableError } from '../core/untranslatable-error.ts'
import { estimateEmbedTokens, estimateRerankTokens } from '../tokens/index.ts'
import type { ParsedChat } from './chat-input.ts'
import { estimateSearchUnits } from './rerank-counts.ts'

/** Estimates the usage of a chat request. */
export function estimateChatUsage(call: ParsedChat): UsageEstimate {
  return {
    promptTokens: call.promptTokens,
    output: (link) => estimateOutput(link, call),
  }
}

function estimateOutput(link: Model, call: ChatCall): OutputEstimate {
  // A route for chat has only links with a chat endpoint.
  const endpoint = link.chat as ChatEndpoint
  try {
    return endpoint.estimateOutput(call)
  } catch (error) {
    if (error instanceof UntranslatableError) return noOutput
    throw error
  }
}

/** A link that cannot express the request is skipped, so it generates nothing. */
const noOutput: OutputEstimate = Object.freeze({ maxTokens: 0, isBounded: true, choices: 1 })

/** Estimates the usage of an embeddings request, which generates nothing. */
export function estimateEmbedUsage({ input }: EmbedCall): UsageEstimate {
  return { promptTokens: estimateEmbedTokens(input) }
}

/** Estimates the usage of a rerank request in both units, because vendors bill by either. */
export function estimateRerankUsage(call: RerankCall): UsageEstimate {
  return { promptTokens: estimateRerankTokens(call), searchUnits: estimateSearchUnits(call) }
}
