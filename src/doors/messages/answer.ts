import type { ChatAnswer } from '../../core/endpoints.ts'
import { renderMessagesUsage } from '../../core/messages-usage.ts'
import { stringifyJson } from '../../wire/raw-json.ts'
import { type ChoiceContent, readChoice } from '../choice.ts'
import type { ServedAnswer } from '../translated-link.ts'
import { newMessageId, ToolIds } from './ids.ts'
import { toStopFields } from './stop-reason.ts'
import { readProven, type ThinkingBlock, toProofBlock } from './thinking.ts'
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

function toBlocks(choice: ChoiceContent): readonly object[] {
  const { reasoning, thinkingBlocks, text, refusal, calls, extra } = choice
  const content = new MessageContent()
  const proven = thinkingBlocks.flatMap((block) => readProven(block) ?? [])
  if (proven.length > 0) for (const block of proven) content.add(block)
  else if (reasoning !== '') content.add({ type: 'thinking', thinking: reasoning, signature: '' })
  // Thinking behind the text would be taken for the answer, so without reasoning this proof is left out.
  if (extra && reasoning !== '') content.prove(toProofBlock({ message: extra }))
  const words = text || refusal
  if (words !== '') content.add({ type: 'text', text: words, citations: null })
  const ids = new ToolIds()
  for (const { id, name, arguments: input, extra: proof } of calls) {
    if (proof) content.prove(toProofBlock({ call: proof }))
    content.add({ type: 'tool_use', id: ids.assign(id), name, input: toInput(input) })
  }
  return content.blocks
}

/** Collects the blocks of a message. */
class MessageContent {
  readonly blocks: Readonly<Record<string, unknown>>[] = []

  add(block: Readonly<Record<string, unknown>>): void {
    this.blocks.push(block)
  }

  /** Signs the thinking before, or adds thinking without text for the signature. */
  prove(proof: ThinkingBlock): void {
    const last = this.blocks.at(-1)
    const isOpen = last?.['type'] === 'thinking' && last['signature'] === ''
    if (isOpen) this.blocks.splice(-1, 1, { ...last, signature: proof.signature })
    else this.add({ ...proof })
  }
}
