import { isObject } from '../../wire/json.ts'
import type { JsonObject } from '../canonical/messages.ts'
import {
  type ContentRules,
  createProviderContent,
  type ProviderContent,
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

/** A block of an answer. */
export interface AnswerBlock {
  readonly block: JsonObject
  /** Returns the block as JSON text, with its numbers as the vendor wrote them. */
  readonly readJson: () => string
}

/**
 * Returns the blocks of an answer for its message, unless a message of the OpenAI API brings them back
 * unchanged. Thinking without its proof is left out: the vendor does not accept it back.
 */
export function carryContent(blocks: readonly AnswerBlock[]): ProviderContent | undefined {
  const returned = blocks.filter(({ block }) => !isUnprovenThinking(block))
  const isInput = returned.some(({ block }) => inputTypes.has(block['type']))
  if (isInput || isPlain(returned)) return undefined
  return createProviderContent(
    'anthropic',
    returned.map((one) => one.readJson()),
    { isProvenOtherwise: isPlain(returned.filter((_, at) => !leads(at, returned))) },
  )
}

/** True for thinking with nothing else before it, which `thinking_blocks` bring back. */
function leads(at: number, blocks: readonly AnswerBlock[]): boolean {
  return blocks.slice(0, at + 1).every(({ block }) => isThinking(block))
}

function isUnprovenThinking({ type, signature, data }: JsonObject): boolean {
  if (type === 'thinking') return !isText(signature)
  return type === 'redacted_thinking' && !isText(data)
}

/** True for one text and the calls behind it, without anything that the OpenAI API does not have. */
function isPlain(blocks: readonly AnswerBlock[]): boolean {
  return blocks
    .filter(({ block }) => block['text'] !== '')
    .every(({ block }, at) => {
      const known = plainMembers.get(block['type'])
      const isPlaced = at === 0 || block['type'] !== 'text'
      return known !== undefined && isPlaced && Object.entries(block).every(hasCounterpart(known))
    })
}

const plainMembers: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ['text', new Set(['type', 'text'])],
  ['tool_use', new Set(['type', 'id', 'name', 'input'])],
])

function hasCounterpart(known: ReadonlySet<string>) {
  return ([name, value]: readonly [string, unknown]): boolean => {
    const isNothing = value === undefined || value === null || isEmptyList(value)
    return known.has(name) || isNothing || (name === 'caller' && isModel(value))
  }
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** The caller of most calls is the model itself, which is the default. */
function isModel(caller: unknown): boolean {
  return isObject(caller) && caller['type'] === 'direct'
}
