import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import {
  type ContentRules,
  createProviderContent,
  type ProviderContent,
  readBlockTexts,
  selectBlocks,
} from '../canonical/provider-content.ts'
import { isThinking } from './blocks.ts'

/** How the blocks of an assistant message are read when a client returns them. */
export const contentRules: ContentRules = {
  family: 'anthropic',
  findFault,
  readText: ({ type, text }) => (type === 'text' ? String(text) : ''),
  readCall: ({ type, name, input }) => (type === 'tool_use' ? { name, input } : undefined),
}

/** Blocks that only a user sends. */
const inputTypes: ReadonlySet<unknown> = new Set([
  'image',
  'document',
  'search_result',
  'tool_result',
])

/** The vendor checks the rest of a block, as it checks any other input of a client. */
function findFault({ type, text, signature, data, id, name, input }: JsonObject) {
  if (typeof type !== 'string') return 'must have a type'
  if (inputTypes.has(type)) return `must be a block of an answer, not of type ${type}`
  switch (type) {
    case 'text':
      return typeof text === 'string' ? undefined : 'must have a text'
    case 'thinking':
      return isText(signature) ? undefined : 'must have a signature'
    case 'redacted_thinking':
      return isText(data) ? undefined : 'must have data'
    case 'tool_use':
      if (!isText(id) || !isText(name)) return 'must have an id and a name'
      return isObject(input) ? undefined : 'must have an input'
    default:
      return undefined
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/**
 * Returns the blocks of an answer for its message, unless a message of the OpenAI API brings them back
 * unchanged. Thinking without its proof is left out: the vendor does not accept it back. `readJson` returns a
 * block as JSON text, with its numbers as the vendor wrote them.
 */
export function carryContent(
  blocks: readonly JsonObject[],
  readJson: (index: number) => string,
): ProviderContent | undefined {
  if (isPlain(blocks)) return undefined
  const placed = selectBlocks(blocks, (block) => !isUnprovenThinking(block))
  const returned = placed.map(({ block }) => block)
  const isInput = returned.some(({ type }) => inputTypes.has(type))
  if (isInput || isPlain(returned)) return undefined
  const lead = returned.findIndex((block) => !isThinking(block))
  return createProviderContent('anthropic', readBlockTexts(placed, readJson), {
    // `thinking_blocks` bring back the thinking with nothing else before it.
    isProvenOtherwise: isPlain(lead < 0 ? [] : returned.slice(lead)),
  })
}

function isUnprovenThinking({ type, signature, data }: JsonObject): boolean {
  if (type === 'thinking') return !isText(signature)
  return type === 'redacted_thinking' && !isText(data)
}

/** True for texts, which a message joins, and the calls behind them, with nothing that the OpenAI API lacks. */
function isPlain(blocks: readonly JsonObject[]): boolean {
  let hasCall = false
  for (const block of blocks) {
    if (block['text'] === '') continue
    const known = plainMembers.get(block['type'])
    if (!known || (block['type'] === 'text' && hasCall)) return false
    for (const name in block) if (!hasCounterpart(name, block[name], known)) return false
    if (block['type'] === 'tool_use') hasCall = true
  }
  return true
}

const plainMembers: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ['text', new Set(['type', 'text'])],
  ['tool_use', new Set(['type', 'id', 'name', 'input'])],
])

function hasCounterpart(name: string, value: unknown, known: ReadonlySet<string>): boolean {
  if (known.has(name) || value === undefined || value === null || isEmptyList(value)) return true
  return name === 'caller' && isModel(value)
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** The caller of most calls is the model itself, which is the default. */
function isModel(caller: unknown): boolean {
  return isObject(caller) && caller['type'] === 'direct'
}
