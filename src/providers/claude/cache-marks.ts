import { isObject } from '../../wire/json.ts'
import {
  type CanonicalMessage,
  type CanonicalPart,
  type JsonObject,
  listParts,
  type TextPart,
} from '../canonical/messages.ts'
import type { FunctionTool } from '../canonical/tools.ts'

/** What a client has marked for the cache, up to here. It stands behind the block that it marks. */
export class CacheMark {
  /** The client's `cache_control`. */
  readonly control: JsonObject

  constructor(control: JsonObject) {
    this.control = control
  }
}

/** A block of the vendor's, or a mark behind one. */
export type Markable = JsonObject | CacheMark

/** The mark on a part, a message, a call or a tool of the client's. */
export function marksOn({ cache_control: control }: JsonObject): readonly CacheMark[] {
  return isObject(control) ? [new CacheMark(control)] : none
}

const none: readonly CacheMark[] = []

/** What the parts of a message become. */
export interface PartBlocks {
  /** Undefined for a text that says nothing. */
  readonly text: (text: string) => JsonObject | undefined
  /** Throws where the vendor takes no such part in this message. */
  readonly other: (part: OtherPart, message: CanonicalMessage) => JsonObject
}

export type OtherPart = Exclude<CanonicalPart, TextPart>

/**
 * The blocks of a message, its calls last, with every mark behind what it marks. The message's own mark
 * belongs to its text where that is one string, else to its end.
 */
export function markedBlocks(
  message: CanonicalMessage,
  blocks: PartBlocks,
  calls: readonly Markable[] = none,
): readonly Markable[] {
  const { content, raw } = message
  const own = marksOn(raw)
  if (typeof content !== 'string') {
    return [
      ...listParts(message).flatMap((part) => partBlock(part, message, blocks)),
      ...calls,
      ...own,
    ]
  }
  const text = blocks.text(content)
  if (own.length === 0) return text ? [text, ...calls] : calls
  return text ? [text, ...own, ...calls] : [...calls, ...own]
}

function partBlock(
  part: CanonicalPart,
  message: CanonicalMessage,
  { text, other }: PartBlocks,
): Markable[] {
  const block = part.type === 'text' ? text(part.text) : other(part, message)
  return block ? [block, ...marksOn(part.raw)] : [...marksOn(part.raw)]
}

/** Clients mark a tool on either side of its definition. */
export function toolMarks({ raw }: FunctionTool): readonly CacheMark[] {
  const { function: definition } = raw
  return [...marksOn(raw), ...(isObject(definition) ? marksOn(definition) : [])].slice(0, 1)
}

export interface MarkRules {
  /** A mark may stand behind this block. */
  readonly carries: (block: JsonObject) => boolean
  /** A block and the mark behind it, as the vendor has them. */
  readonly marked: (block: JsonObject, mark: CacheMark) => readonly JsonObject[]
}

/**
 * Settles every mark on the nearest block before it that can carry one: its own may have been blank, or
 * of a type that takes none. The lists follow each other as the vendor reads them. Two marks in one
 * place are one; a mark before every block has no place.
 */
export function settleMarks(
  lists: readonly (readonly Markable[])[],
  { carries, marked }: MarkRules,
): readonly (readonly JsonObject[])[] {
  if (isUnmarked(lists)) return lists
  const marks = new Map<JsonObject, CacheMark>()
  let carrier: JsonObject | undefined
  for (const item of lists.flat()) {
    if (!(item instanceof CacheMark)) carrier = carries(item) ? item : carrier
    else if (carrier && !marks.has(carrier)) marks.set(carrier, item)
  }
  return lists.map((list) =>
    list.flatMap((item) => {
      if (item instanceof CacheMark) return []
      const mark = marks.get(item)
      return mark ? marked(item, mark) : [item]
    }),
  )
}

/** True for most conversations. */
function isUnmarked(
  lists: readonly (readonly Markable[])[],
): lists is readonly (readonly JsonObject[])[] {
  return lists.every((list) => list.every((item) => !(item instanceof CacheMark)))
}
