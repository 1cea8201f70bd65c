import type { Chance } from './chance.ts'
import type { Answer } from './vendor.ts'
import { object, proof, text } from './words.ts'

/*
 * Claude, at Anthropic and on Bedrock, and other models on Bedrock. A message of the OpenAI format has
 * one text and a list of calls, so it cannot carry
 * - the borders of text blocks, and texts after calls: the texts are joined before the calls;
 * - a text that is white space;
 * - citations, which need documents that the gateway never sends;
 * - thinking after other blocks: then no thinking comes back;
 * - truncated arguments: `{"rawInvalidInput": "…"}` comes back;
 * - the explanation of a refusal beside a text; without a text it comes back as the text.
 */

export type Block =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'text'; readonly text: string }
  /** The input is JSON text. */
  | { readonly type: 'tool_use'; readonly id: string; readonly input: string }

interface ModelTurn {
  readonly blocks: readonly Block[]
  readonly stop: 'end_turn' | 'tool_use' | 'max_tokens' | 'refusal'
  readonly explanation?: string
}

/** How a model differs from others that speak through the same API. */
export interface ModelQuirks {
  readonly callId: (chance: Chance) => string
  /** Its thinking has signatures; otherwise it is shown but does not come back. */
  readonly isProven: boolean
  /** A refusal may have an explanation. */
  readonly explains: boolean
}

export function createTurn(
  chance: Chance,
  isStreamed: boolean,
  { callId, isProven, explains }: ModelQuirks,
): ModelTurn {
  if (explains && chance.is(0.04)) {
    const blocks: Block[] = chance.is(0.5) ? [{ type: 'text', text: text(chance) }] : []
    return { blocks, stop: 'refusal', explanation: text(chance) }
  }
  const thoughts = chance.some(0, 2, () => createThought(chance, isProven))
  const texts = chance.some(0, 2, (): Block => ({ type: 'text', text: createText(chance) }))
  const calls = chance.some(
    texts.length === 0 ? 1 : 0,
    3,
    (): Block => ({ type: 'tool_use', id: callId(chance), input: object(chance) }),
  )
  const others = [...texts, ...calls]
  // The newest models also think between texts and calls, but never last.
  const late = chance.is(0.3) ? chance.some(1, 2, () => createThought(chance, isProven)) : []
  for (const block of late) others.splice(chance.below(others.length), 0, block)
  const blocks = [...thoughts, ...others]
  const last = blocks.at(-1)
  if (isStreamed && last?.type === 'tool_use' && chance.is(0.1)) {
    const [input = ''] = chance.pieces(last.input, 3)
    return { blocks: [...blocks.slice(0, -1), { ...last, input }], stop: 'max_tokens' }
  }
  return { blocks, stop: calls.length > 0 ? 'tool_use' : 'end_turn' }
}

function createThought(chance: Chance, isProven: boolean): Block {
  if (!isProven) return { type: 'thinking', thinking: text(chance), signature: '' }
  if (chance.is(0.3)) return { type: 'redacted_thinking', data: proof(chance) }
  // When the text of thinking is omitted, the signature comes alone.
  const thinking = chance.is(0.2) ? '' : text(chance)
  return { type: 'thinking', thinking, signature: proof(chance) }
}

function createText(chance: Chance): string {
  return chance.is(0.15) ? chance.pick(['\n\n', ' ']) : text(chance)
}

export function claudeId(chance: Chance): string {
  return `toolu_${proof(chance).replace(/[^a-zA-Z0-9]/g, '')}${chance.below(1e9)}`.slice(0, 60)
}

export function toShown({ blocks, explanation = '' }: ModelTurn): Answer['shown'] {
  return {
    refusal: explanation,
    content: blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    reasoning: blocks.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: blocks.flatMap((block) =>
      block.type === 'tool_use' ? [{ name: 'f', arguments: block.input || '{}' }] : [],
    ),
  }
}

const isThought = ({ type }: Block) => type === 'thinking' || type === 'redacted_thinking'

/** The vendor does not accept thinking without a signature. */
const isKept = (block: Block) => block.type !== 'thinking' || block.signature !== ''

export function toReturned(said: ModelTurn): readonly Block[] | undefined {
  const { blocks, explanation = '' } = said
  const first = blocks.findIndex((block) => !isThought(block))
  const leads = !blocks.slice(first).some(isThought)
  const content = toShown(said).content || explanation
  const turn = [
    ...(leads ? blocks.filter(isThought).filter(isKept) : []),
    ...(content.trim() === '' ? [] : [{ type: 'text', text: content } as const]),
    ...blocks.flatMap((block) =>
      block.type === 'tool_use' ? [{ ...block, input: inputBack(block.input) }] : [],
    ),
  ]
  return turn.length > 0 ? turn : undefined
}

function inputBack(input: string): string {
  if (input.trim() === '') return '{}'
  try {
    JSON.parse(input)
    return input
  } catch {
    return JSON.stringify({ rawInvalidInput: input })
  }
}
