import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { isSameJson } from '../../wire/json/equality.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { RawJson, stringifyJson } from '../../wire/json/raw.ts'
import { extractMembers, extractTexts, minifyJson } from '../../wire/json/text.ts'
import { joinText, listParts, type PastAnswer } from './messages.ts'
import type { PastCall } from './past-call.ts'

/*
 * An answer may hold more than a message of the OpenAI API can: several texts, thoughts between them, proofs,
 * tools that the vendor ran, citations. The message then carries the vendor's own blocks as well, in
 * `provider_content`, and in a later turn they go back to the same family of APIs in place of the message.
 */

/** The APIs whose blocks are not the same. Both kinds for Gemini are of the family `google`. */
export type ContentFamily = 'anthropic' | 'google' | 'bedrock' | 'cohere'

/** The value of `provider_content`. */
export class ProviderContent {
  readonly family: ContentFamily
  /** The list of blocks, as the vendor wrote them. */
  readonly content: RawJson
  /**
   * The other members of the message for proofs bring the blocks back too. Doors of other APIs, which
   * keep those, then do without the blocks.
   */
  readonly isProvenOtherwise: boolean

  constructor(family: ContentFamily, content: RawJson, isProvenOtherwise: boolean) {
    this.family = family
    this.content = content
    this.isProvenOtherwise = isProvenOtherwise
  }

  toJSON(): object {
    return { family: this.family, content: this.content }
  }
}

/** The blocks of a longer answer are not carried. In characters of JSON; a request may not hold more either. */
export const maxContentLength = 4 * 1024 * 1024

/** Nor are those of an answer with more blocks, each of which takes microseconds to write. */
export const maxBlocks = 5_000

/** A block of an answer, and its place among all blocks of the answer. */
export interface IndexedBlock<Block> {
  readonly block: Block
  readonly index: number
}

/** Lists the blocks that go back to the vendor, with their places. */
export function selectBlocks<Block>(
  blocks: readonly Block[],
  isReturned: (block: Block) => boolean,
): readonly IndexedBlock<Block>[] {
  return blocks.flatMap((block, index) => (isReturned(block) ? [{ block, index }] : []))
}

/**
 * Returns the blocks of an answer, given as JSON texts, for its message; undefined if they are too long, or too
 * many. Reads no further than that.
 */
export function createProviderContent(
  family: ContentFamily,
  blocks: Iterable<string>,
  { isProvenOtherwise = false }: Partial<Pick<ProviderContent, 'isProvenOtherwise'>> = {},
): ProviderContent | undefined {
  const texts: string[] = []
  let length = '[]'.length
  for (const block of blocks) {
    const text = minifyJson(block)
    length += text.length + (texts.length > 0 ? ','.length : 0)
    if (length > maxContentLength || texts.length === maxBlocks) return undefined
    texts.push(text)
  }
  return new ProviderContent(family, new RawJson(`[${texts.join(',')}]`), isProvenOtherwise)
}

/** Reads the JSON texts of blocks one after the other. */
export function* readBlockTexts(
  blocks: readonly IndexedBlock<unknown>[],
  readJson: (index: number) => string,
): Generator<string> {
  for (const { index } of blocks) yield readJson(index)
}

/** What the gateway reads in the blocks of a family. */
export interface ContentRules {
  readonly family: ContentFamily
  /** Returns the rule that a block breaks; undefined for a block that an answer may hold. */
  readonly findFault: (block: JsonObject) => string | undefined
  /** Returns the part of the message's text that a block holds. */
  readonly readText: (block: JsonObject) => string
  /** Returns the call that a block asks the client for; undefined for any other block. */
  readonly readCall: (block: JsonObject) => BlockCall | undefined
}

/** A call in a vendor's block. */
export interface BlockCall {
  readonly name: unknown
  /** The arguments: an object, or absent. */
  readonly input: unknown
}

/** A block that goes back to its vendor. */
export interface PastBlock {
  /** The client's own object. */
  readonly block: JsonObject
  /** Its members; those that are not texts as `RawJson`, as the client sent them. */
  readonly members: JsonObject
  /** The call of the message that the block stands for. */
  readonly call: PastCall | undefined
}

/**
 * Returns the vendor's own blocks of an earlier answer. Undefined if the message has none, if they are those
 * of another family, or if the client has edited the text or the calls of the message, which then count.
 * Throws `UntranslatableError` for malformed blocks of this family.
 */
export function readProviderContent(
  message: PastAnswer,
  rules: ContentRules,
): readonly PastBlock[] | undefined {
  const given = message.raw['provider_content']
  if (given === undefined || given === null) return undefined
  const path = `${message.path}.provider_content`
  if (!isObject(given)) throw new UntranslatableError(`${path} must be an object`, path)
  if (given['family'] !== rules.family) return undefined
  const blocks = checkBlocks(given['content'], `${path}.content`, rules)
  if (!hasSameText(message, blocks, rules)) return undefined
  const calls = matchCalls(message, blocks, rules)
  if (!calls) return undefined
  const texts = extractTexts(message.readRawText(`${path}.content`), '*')
  return blocks.map((block, index) => ({
    block,
    members: readExactMembers(block, texts.get(`${index}`) ?? '{}'),
    call: calls.get(block),
  }))
}

function checkBlocks(content: unknown, path: string, rules: ContentRules): readonly JsonObject[] {
  if (!Array.isArray(content)) throw new UntranslatableError(`${path} must be an array`, path)
  const blocks = content.map((block: unknown, index) => {
    const place = `${path}.${index}`
    const rule = isObject(block) ? rules.findFault(block) : 'must be an object'
    if (rule !== undefined) throw new UntranslatableError(`${place}: ${rule}`, place)
    // `findFault` is only called for objects, and its rule above excludes all else.
    return block as JsonObject
  })
  if (JSON.stringify(content).length <= maxContentLength) return blocks
  throw new UntranslatableError(`${path} is longer than ${maxContentLength} characters`, path)
}

/** Media beside the text are not in the blocks, except for audio, which has a member of its own. */
function hasSameText(
  message: PastAnswer,
  blocks: readonly JsonObject[],
  { readText }: ContentRules,
): boolean {
  const isText = listParts(message).every(
    ({ type, path }) => type === 'text' || path.endsWith('.audio'),
  )
  return isText && joinText(message) === blocks.map(readText).join('')
}

/** Returns the call of each block that has one; undefined unless they are the calls of the message. */
function matchCalls(
  { calls }: PastAnswer,
  blocks: readonly JsonObject[],
  { readCall }: ContentRules,
): ReadonlyMap<JsonObject, PastCall> | undefined {
  const matched = new Map<JsonObject, PastCall>()
  for (const block of blocks) {
    const made = readCall(block)
    if (!made) continue
    const call = calls[matched.size]
    if (!call || call.name !== made.name || !hasSameInput(call, made.input ?? {})) return undefined
    matched.set(block, call)
  }
  return matched.size === calls.length ? matched : undefined
}

function hasSameInput(call: PastCall, input: unknown): boolean {
  return isSameJson(JSON.parse(stringifyJson(call.object)), input)
}

/** Takes members from the JSON text itself: parsing would round large numbers. */
function readExactMembers(block: JsonObject, json: string): JsonObject {
  const texts = extractMembers(json)
  return Object.fromEntries(
    Object.entries(block).map(([name, value]) => {
      const text = texts.get(name)
      return [name, typeof value === 'string' || text === undefined ? value : new RawJson(text)]
    }),
  )
}
