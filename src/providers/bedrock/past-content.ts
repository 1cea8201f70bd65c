import type { PastAnswer } from '../canonical/messages.ts'
import { type PastBlock, readProviderContent } from '../canonical/provider-content.ts'
import { readThinkingBlocks } from '../claude/thinking-blocks.ts'
import { contentRules } from './content.ts'
import type { BedrockModel } from './models.ts'

/** Whether an earlier answer goes back with its reasoning first. */
export function beginsWithThinking(message: PastAnswer, model: BedrockModel): boolean {
  const own = readProviderContent(message, contentRules)
  if (!own) return readThinkingBlocks(message).length > 0
  const [first] = listAccepted(own, model)
  return first !== undefined && 'reasoningContent' in first.members
}

/**
 * Converse refuses blank texts, and Claude thinking at the end of a turn, although models write both. Some
 * models accept no reasoning, not even their own: Nova 2 answers 400 to it
 * (https://github.com/can1357/oh-my-pi/pull/9086).
 */
export function listAccepted(own: readonly PastBlock[], model: BedrockModel): readonly PastBlock[] {
  const isReasoning = ({ members }: PastBlock) => 'reasoningContent' in members
  const accepted = own.filter((past) => {
    const { text } = past.members
    const isBlank = typeof text === 'string' && text.trim() === ''
    return !isBlank && (model.hasSignedReasoning || !isReasoning(past))
  })
  return accepted.slice(0, accepted.findLastIndex((past) => !isReasoning(past)) + 1)
}
