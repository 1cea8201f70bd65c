import { renderMessagesUsage } from '../../core/messages-usage.ts'
import type { ChatAnswer } from '../../core/provider.ts'
import { stringifyJson } from '../../wire/raw-json.ts'
import { type ChoiceContent, readChoice } from '../choice.ts'
import type { ServedAnswer } from '../translated-link.ts'
import { newMessageId, ToolIds } from './ids.ts'
import { toStopFields } from './stop-reason.ts'
import { readProven } from './thinking.ts'
import { toInput } from './tool-input.ts'

const encoder = new TextEncoder()

/** Renders the answer of another API as a message. */
export function renderAnswer({ choices }: ChatAnswer, { usage, model }: ServedAnswer): Uint8Array {
  const choice = readChoice(choices[0] ?? {})
  const body = {
    id: newMessageId(),
    type: 'message',
    role: 'assistant',
    model,
    content: toBlocks(choice),
    ...toStopFields({ ...choice, hasCalls: choice.calls.length > 0 }),
    container: null,
    usage: renderMessagesUsage(usage),
  }
  return encoder.encode(stringifyJson(body))
}

function toBlocks({ reasoning, thinkingBlocks, text, refusal, calls }: ChoiceContent): object[] {
  const proven = thinkingBlocks.flatMap((block) => readProven(block) ?? [])
  const thinking =
    proven.length > 0 || reasoning === ''
      ? proven
      : [{ type: 'thinking', thinking: reasoning, signature: '' }]
  const words = text || refusal
  const ids = new ToolIds()
  return [
    ...thinking,
    ...(words === '' ? [] : [{ type: 'text', text: words, citations: null }]),
    ...calls.map(({ id, name, arguments: input }) => ({
      type: 'tool_use',
      id: ids.assign(id),
      name,
      input: toInput(input),
    })),
  ]
}
