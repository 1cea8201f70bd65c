import type { UsageEstimate } from '../core/admission.ts'
import type { OutputEstimate } from '../core/chat.ts'
import type { EmbedCall } from '../core/embeddings.ts'
import type { Model } from '../core/provider.ts'
import type { RerankCall } from '../core/rerank.ts'
import { UntranslatableError } from '../core/untranslatable-error.ts'
import { estimateEmbedTokens, estimateRerankTokens } from '../tokens/index.ts'
import type { DoorCall } from './chat-door.ts'
import { estimateSearchUnits } from './rerank-counts.ts'

/** Estimates the usage of a chat request. */
export function estimateChatUsage(call: DoorCall): UsageEstimate {
  return {
    promptTokens: call.promptTokens,
    cacheLife: call.cacheLife,
    output: (link) => estimateOutput(link, call),
  }
}

function estimateOutput(link: Model, call: DoorCall): OutputEstimate {
  try {
    return call.bind(link).estimateOutput()
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
