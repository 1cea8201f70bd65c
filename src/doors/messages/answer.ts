import type { ChatAnswer } from '../../core/endpoints.ts'
import { renderMessagesUsage } from '../../core/messages-usage.ts'
import type { Steps } from '../../core/steps.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import { type ChoiceContent, readChoice } from '../choice.ts'
import { type GivenProof, readExtraContent } from '../proofs.ts'
import type { ServedAnswer } from '../translated-link.ts'
import { repairCharacters } from '../whole-characters.ts'
import { AnswerToolIds, newMessageId } from './ids.ts'
import { toStopFields } from './stop-reason.ts'
import {
  type ProvenBlock,
  readProven,
  toCallProofs,
  toPastProofs,
  toProofBlocks,
} from './thinking.ts'
import { toInput } from './tool-input.ts'

const encoder = new TextEncoder()

/** Renders the answer of another API as a message. */
export function* renderAnswer(
  { choices }: ChatAnswer,
  { usage, model }: ServedAnswer,
): Steps<Uint8Array> {
  const choice = repairCharacters(readChoice(choices[0] ?? {}))
  yield
  const body = {
    id: newMessageId(),
    type: 'message',
    role: 'assistant',
    model,
    content: toBlocks(choice, model),
    ...toStopFields({ ...choice, hasCalls: choice.calls.length > 0 }),
    container: null,
    usage: renderMessagesUsage(usage),
  }
  yield
  const json = stringifyJson(body)
  yield
  return encoder.encode(json)
}

function toBlocks(choice: ChoiceContent, model: string): readonly object[] {
  const { reasoning, thinkingBlocks, text, refusal } = choice
  const ids = new AnswerToolIds()
  const calls = choice.calls.map((call) => ({ ...call, id: ids.assign(call.id) }))
  const proven = thinkingBlocks.flatMap((block) => readProven(block) ?? [])
  const thinking: readonly ProvenBlock[] =
    proven.length === 0 && reasoning !== ''
      ? [{ type: 'thinking', thinking: reasoning, signature: '' }]
      : proven
  const words = text || refusal
  return [
    ...sign(thinking, findProof({ ...choice, calls }, model)),
    ...(words === '' ? [] : [{ type: 'text', text: words, citations: null }]),
    ...calls.map(({ id, name, arguments: input }) => ({
      type: 'tool_use',
      id,
      name,
      input: toInput(input),
    })),
  ]
}

/** Returns what the vendor expects back and no block of this API holds. */
function findProof(choice: ChoiceContent, model: string): GivenProof | undefined {
  const { reasoning, past, extra, content } = choice
  const calls = choice.calls.flatMap((call) => toCallProofs(call))
  // A plain text gets no thinking for the sake of its signature.
  const isText = reasoning === '' && choice.calls.length === 0
  const message = isText ? undefined : readExtraContent(extra)
  if (!content && !message && !past && calls.length === 0) return undefined
  return {
    model,
    message,
    content,
    ...toPastProofs(past, reasoning),
    ...(calls.length > 0 && { calls }),
  }
}

/** Signs the last thinking if it has no signature; otherwise thinking without text follows. */
function sign(
  thinking: readonly ProvenBlock[],
  proof: GivenProof | undefined,
): readonly ProvenBlock[] {
  const [block] = proof ? toProofBlocks(proof) : []
  if (!block) return thinking
  const last = thinking.at(-1)
  const isOpen = last?.type === 'thinking' && last.signature === ''
  return isOpen
    ? [...thinking.slice(0, -1), { ...last, signature: block.signature }]
    : [...thinking, block]
}
