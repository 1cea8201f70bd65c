import type { ClaudeModel } from '../claude/models.ts'
import { type ClaudeThinking, isThinkingOn } from '../claude/reasoning.ts'
import type { ConditionFlags } from '../translation/conditions.ts'

/** Returns which conditions of the translation table hold for one request to a Claude model. */
export function evaluateConditions(
  model: ClaudeModel,
  reasoning: ClaudeThinking,
): ConditionFlags<'anthropic'> {
  return {
    fixedSampling: !model.hasSampling || isThinkingOn(reasoning.thinking),
    noReasoning: model.thinking === 'none',
    thinkingMissing: reasoning.dropReason === 'missing-blocks',
    noRoomToThink: reasoning.dropReason === 'no-room',
    noSchemas: !model.hasSchemas,
    noForcedCalls: !canForceCalls(model, reasoning),
  }
}

/** Not every model lets `tool_choice` force a call, and none does while it thinks on a budget. */
export function canForceCalls(model: ClaudeModel, { thinking }: ClaudeThinking): boolean {
  return model.canForceCalls && thinking?.['type'] !== 'enabled'
}
