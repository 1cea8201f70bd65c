import type { Chance } from './chance.ts'
import type { Answer } from './vendor.ts'
import { object, proof, text } from './words.ts'

/*
 * Claude, at Anthropic and on Bedrock, and other models on Bedrock. The vendor does not accept back
 * - a text that is white space;
 * - thinking without its proof, or at the end of a turn;
 * - truncated arguments: `{"rawInvalidInput": "…"}` comes back.
 * The explanation of a refusal is no block; without a text it comes back as the text.
 */

export type Block =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'text'; readonly text: string; readonly sources?: readonly Source[] }
  /** The input is JSON text. */
  | { readonly type: 'tool_use'; readonly id: string; readonly input: string }
  /** A search that the vendor ran, and its results. */
  | {
      readonly type: 'search'
      readonly id: string
      readonly query: string
      readonly results: readonly Source[]
    }

export interface Source {
  readonly url: string
  readonly title: string
  /** What the answer cites of it. */
  readonly cited: string
}

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
  /** It may search by itself. */
  readonly searches: boolean
}

export function createTurn(
  chance: Chance,
  mayTear: boolean,
  { callId, isProven, explains, searches }: ModelQuirks,
): ModelTurn {
  if (explains && chance.is(0.04)) {
    const blocks: Block[] = chance.is(0.5) ? [{ type: 'text', text: text(chance) }] : []
    return { blocks, stop: 'refusal', explanation: text(chance) }
  }
  const thoughts = chance.some(0, 2, () => createThought(chance, isProven))
  const texts = chance.some(0, 2, () => createText(chance))
  const calls = chance.some(
    texts.length === 0 ? 1 : 0,
    3,
    (): Block => ({ type: 'tool_use', id: callId(chance), input: object(chance) }),
  )
  const others = [...texts, ...calls]
  const found = searches && chance.is(0.3) ? chance.some(1, 2, () => createSearch(chance)) : []
  for (const block of found) others.splice(chance.below(others.length + 1), 0, block)
  // The newest models also think between texts and calls, but never last.
  const late = chance.is(0.3) ? chance.some(1, 2, () => createThought(chance, isProven)) : []
  for (const block of late) others.splice(chance.below(others.length), 0, block)
  const blocks = [...thoughts, ...others]
  const last = blocks.at(-1)
  if (mayTear && last?.type === 'tool_use' && chance.is(0.1)) {
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

function createText(chance: Chance): Block {
  if (chance.is(0.15)) return { type: 'text', text: chance.pick(['\n\n', ' ']) }
  const sources = chance.is(0.2) ? chance.some(1, 2, (at) => createSource(chance, at)) : []
  return { type: 'text', text: text(chance), ...(sources.length > 0 && { sources }) }
}

function createSource(chance: Chance, at: number): Source {
  return { url: `https://example.org/${at}`, title: text(chance), cited: text(chance) }
}

function createSearch(chance: Chance): Block {
  const results = chance.some(0, 2, (at) => createSource(chance, at))
  return { type: 'search', id: `srvtoolu_${chance.below(1e9)}`, query: text(chance), results }
}

export function claudeId(chance: Chance): string {
  return `toolu_${proof(chance).replace(/[^a-zA-Z0-9]/g, '')}${chance.below(1e9)}`.slice(0, 60)
}

export function toShown({ blocks, explanation = '' }: ModelTurn): Answer['shown'] {
  return {
    refusal: explanation,
    content: blocks.map(textOf).join(''),
    reasoning: blocks.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    annotations: blocks.flatMap((block, at) => {
      const before = [...blocks.slice(0, at).map(textOf).join('')].length
      return toAnnotations(block, before)
    }),
    calls: blocks.flatMap((block) =>
      block.type === 'tool_use' ? [{ name: 'f', arguments: block.input || '{}' }] : [],
    ),
  }
}

const textOf = (block: Block) => (block.type === 'text' ? block.text : '')

function toAnnotations(block: Block, start: number): object[] {
  const { sources = [] } = block.type === 'text' ? block : {}
  return sources.map(({ url, title, cited }) => ({
    type: 'url_citation',
    url_citation: {
      start_index: start,
      end_index: start + [...textOf(block)].length,
      url,
      title,
      text: cited,
      source_id: '',
    },
  }))
}

const isThought = ({ type }: Block) => type === 'thinking' || type === 'redacted_thinking'

/** The vendor does not accept blank texts, and thinking without a signature. */
const isKept = (block: Block) =>
  block.type === 'thinking'
    ? block.signature !== ''
    : block.type !== 'text' || block.text.trim() !== ''

/** Returns what comes back of an answer. */
export function toReturned({ blocks, explanation = '' }: ModelTurn): readonly Block[] | undefined {
  const kept = blocks.filter(isKept)
  const turn = kept.slice(0, kept.findLastIndex((block) => !isThought(block)) + 1)
  const isRefused = explanation !== '' && blocks.every((block) => textOf(block) === '')
  const refusal = isRefused ? [{ type: 'text', text: explanation } as const] : []
  const back = [...turn, ...refusal].map((block) =>
    block.type === 'tool_use' ? { ...block, input: inputBack(block.input) } : block,
  )
  return back.length > 0 ? back : undefined
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
