import type { ClaudeModel } from '../claude/models.ts'
import { type ClaudeThinking, thinks } from '../claude/reasoning.ts'
import type { AnthropicCondition, ConditionFlags } from '../translation/conditions.ts'

/** The conditions of the table for one request to a Claude model. */
export function claudeConditions(
  model: ClaudeModel,
  reasoning: ClaudeThinking,
): ConditionFlags<AnthropicCondition> {
  return {
    fixedSampling: !model.sampling || thinks(reasoning),
    noReasoning: model.thinking === 'none',
    thinkingMissing: reasoning.lost === 'missing',
    noRoomToThink: reasoning.lost === 'no-room',
    noSchemas: !model.schemas,
    noForcedCalls: !mayForce(model, reasoning),
  }
}

/** `tool_choice` may force a call: not every model takes that, and none while it thinks by budget. */
export function mayForce({ forcedTools }: ClaudeModel, { thinking }: ClaudeThinking): boolean {
  return forcedTools && thinking?.['type'] !== 'enabled'
}
