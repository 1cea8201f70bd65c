import type { JsonObject } from '../../wire/json/parse.ts'
import { isThinkingOn } from '../claude/reasoning.ts'
import type { ConditionFlags } from '../translation/conditions.ts'
import type { BedrockModel } from './models.ts'
import type { BedrockReasoning } from './reasoning.ts'

/** Returns which conditions of the translation table hold for one request to a model on Bedrock. */
export function evaluateConditions(
  model: BedrockModel,
  reasoning: BedrockReasoning,
): ConditionFlags<'bedrock'> {
  const { claude, hasSampling, choices } = model
  const { thinking, dropReason, isUnbounded } = reasoning
  return {
    fixedSampling: !hasSampling || isThinkingOn(thinking) || claude?.hasSampling === false,
    noReasoning: claude ? claude.thinking === 'none' : model.reasoning === undefined,
    noWordForNone: model.reasoning === 'reasoning_config',
    thinkingMissing: dropReason === 'missing-blocks',
    noRoomToThink: dropReason === 'no-room',
    unboundedReasoning: isUnbounded,
    noSchemas: !model.hasSchemas,
    noForcedCalls: !canForceCalls(model, thinking),
    noAnyChoice: !choices.includes('any'),
    noNamedChoice: !choices.includes('tool'),
    noAutoChoice: !choices.includes('auto'),
    notClaude: claude === undefined,
    noStops: !model.hasStopSequences,
    noTopK: model.topK === undefined,
    noThinkingBlocks: !model.hasSignedReasoning,
    noCacheMarks: !model.hasCachePoints,
    noGrounding: !model.hasGrounding,
    noResultStatus: !model.hasResultStatus,
    noResultMedia: !model.hasResultMedia,
  }
}

/** Some Claude models accept no forced call, and none does while it thinks on a budget. */
export function canForceCalls(
  { claude, mustDisableThinkingToForce }: BedrockModel,
  thinking: JsonObject | undefined,
): boolean {
  if (claude?.canForceCalls === false) return false
  return mustDisableThinkingToForce ? !isThinkingOn(thinking) : thinking?.['type'] !== 'enabled'
}
