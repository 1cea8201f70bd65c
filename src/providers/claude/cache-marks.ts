import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import {
  type CanonicalMessage,
  type CanonicalPart,
  listParts,
  type TextPart,
} from '../canonical/messages.ts'
import { type FunctionTool, findToolMember } from '../canonical/tools.ts'

/** A content block in the vendor's own form. Members that are undefined do not reach the wire. */
export type ClaudeBlock = JsonObject

/** A client's `cache_control`. It follows the block that it marks, until `placeMarks` applies it. */
export class CacheMark {
  readonly control: JsonObject

  constructor(control: JsonObject) {
    this.control = control
  }
}

export type BlockOrMark = ClaudeBlock | CacheMark

/** Returns the mark on a part, a message, a call or a tool of the client, if it has one. */
export function readMark({ cache_control: control }: JsonObject): readonly CacheMark[] {
  return isObject(control) ? [new CacheMark(control)] : none
}

const none: readonly CacheMark[] = []

/** How the parts of one message become blocks. */
export interface PartTranslator {
  /** Returns undefined for a blank text, which the vendors refuse. */
  readonly toTextBlock: (text: string) => ClaudeBlock | undefined
  /** Throws `UntranslatableError` for a part that this message cannot hold. */
  readonly toOtherBlock: (part: OtherPart, message: CanonicalMessage) => ClaudeBlock
}

export type OtherPart = Exclude<CanonicalPart, TextPart>

/**
 * Translates a message into blocks, its calls last, with each mark behind the block that it marks. A
 * mark on the message itself marks its text if the content is a string, otherwise its last block.
 */
export function toMarkedBlocks(
  message: CanonicalMessage,
  translator: PartTranslator,
  calls: readonly BlockOrMark[] = none,
): readonly BlockOrMark[] {
  const { content, raw } = message
  const own = readMark(raw)
  if (typeof content !== 'string') {
    return [
      ...listParts(message).flatMap((part) => translatePart(part, message, translator)),
      ...calls,
      ...own,
    ]
  }
  const text = translator.toTextBlock(content)
  if (own.length === 0) return text ? [text, ...calls] : calls
  return text ? [text, ...own, ...calls] : [...calls, ...own]
}

function translatePart(
  part: CanonicalPart,
  message: CanonicalMessage,
  translator: PartTranslator,
): BlockOrMark[] {
  const block =
    part.type === 'text'
      ? translator.toTextBlock(part.text)
      : translator.toOtherBlock(part, message)
  return block ? [block, ...readMark(part.raw)] : [...readMark(part.raw)]
}

/** Returns the mark on a tool. Clients put it beside `function` or inside of it. */
export function readToolMark(tool: FunctionTool): readonly CacheMark[] {
  return readMark({ cache_control: findToolMember(tool, 'cache_control')?.value })
}

/** How a vendor marks a block. */
export interface MarkRules {
  /** Whether the vendor accepts a mark on this block. */
  readonly canCarry: (block: ClaudeBlock) => boolean
  /** Returns the marked block, or the block and the cache point behind it. */
  readonly apply: (block: ClaudeBlock, mark: CacheMark) => readonly ClaudeBlock[]
}

/**
 * Applies each mark to the nearest block before it that can carry one: its own block may have been
 * blank, or of a type that takes no mark. `lists` are in the order in which the vendor reads them. A
 * block keeps the first of several marks; a mark without a block before it is left out.
 */
export function placeMarks(
  lists: readonly (readonly BlockOrMark[])[],
  { canCarry, apply }: MarkRules,
): readonly (readonly ClaudeBlock[])[] {
  if (hasNoMarks(lists)) return lists
  const marks = new Map<ClaudeBlock, CacheMark>()
  let carrier: ClaudeBlock | undefined
  for (const item of lists.flat()) {
    if (!(item instanceof CacheMark)) carrier = canCarry(item) ? item : carrier
    else if (carrier && !marks.has(carrier)) marks.set(carrier, item)
  }
  return lists.map((list) =>
    list.flatMap((item) => {
      if (item instanceof CacheMark) return []
      const mark = marks.get(item)
      return mark ? apply(item, mark) : [item]
    }),
  )
}

/** True for most conversations, which then need no copy of their lists. */
function hasNoMarks(
  lists: readonly (readonly BlockOrMark[])[],
): lists is readonly (readonly ClaudeBlock[])[] {
  return lists.every((list) => list.every((item) => !(item instanceof CacheMark)))
}
