import type { UsageEstimate } from '../../core/admission.ts'
import type { OutputEstimate } from '../../core/chat.ts'
import type { Model } from '../../core/provider.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { DoorCall } from './door.ts'

/** Estimates the usage of a chat request; `prepared` has what is known of its links. */
export function estimateChatUsage(
  call: DoorCall,
  prepared?: ReadonlyMap<Model, { readonly output: OutputEstimate }>,
): UsageEstimate {
  return {
    promptTokens: call.promptTokens,
    cacheLife: call.cacheLife,
    output: (link) => prepared?.get(link)?.output ?? estimateOutput(link, call),
  }
}

export function estimateOutput(link: Model, call: DoorCall): OutputEstimate {
  try {
    return call.bind(link).estimateOutput()
  } catch (error) {
    if (error instanceof UntranslatableError) return noOutput
    throw error
  }
}

/** A link that cannot express the request is skipped, so it generates nothing. */
const noOutput: OutputEstimate = Object.freeze({ maxTokens: 0, isBounded: true, choices: 1 })
