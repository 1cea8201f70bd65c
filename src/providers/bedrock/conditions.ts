import { thinks } from '../claude/reasoning.ts'
import type { BedrockCondition, ConditionFlags } from '../translation/conditions.ts'
import type { BedrockModel } from './models.ts'
import type { Reasoning } from './reasoning.ts'

/** The conditions of the table for one request to a model on Bedrock. */
export function bedrockConditions(
  model: BedrockModel,
  reasoning: Reasoning,
): ConditionFlags<BedrockCondition> {
  const { claude, takesSampling, choices } = model
  return {
    fixedSampling: !takesSampling || thinks(reasoning) || claude?.sampling === false,
    noReasoning: claude ? claude.thinking === 'none' : model.reasoning === undefined,
    noWordForNone: model.reasoning === 'reasoning_config',
    thinkingMissing: reasoning.lost === 'missing',
    noRoomToThink: reasoning.lost === 'no-room',
    unboundedReasoning: reasoning.isUnbounded,
    noSchemas: !model.takesSchemas,
    noForcedCalls: !mayForce(model, reasoning),
    noAnyChoice: !choices.includes('any'),
    noNamedChoice: !choices.includes('tool'),
    noAutoChoice: !choices.includes('auto'),
    notClaude: claude === undefined,
    noStops: !model.takesStops,
    noTopK: model.topK === undefined,
    noThinkingBlocks: !model.takesReasoning,
    noCacheMarks: !model.takesCachePoints,
  }
}

/** Some Claude models take no forced call, and none does while it thinks by budget. */
export function mayForce(
  { claude, forcesWithoutThinking }: BedrockModel,
  reasoning: Pick<Reasoning, 'thinking'>,
): boolean {
  if (claude?.forcedTools === false) return false
  return forcesWithoutThinking ? !thinks(reasoning) : reasoning.thinking?.['type'] !== 'enabled'
}
