import {
  editText,
  type Place,
  placeItems,
  placeMembers,
  type TextEdit,
} from '../../wire/json/entries.ts'
import { parseJson } from '../../wire/json/parse.ts'
import { scanLayout } from '../../wire/json/scan.ts'

/*
 * Marks of prompt caching that the gateway sets where a request has none: at the end of the tools, of the system text
 * and of the last two turns of the user, four in all, which is what the vendors take.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */

/** The turns of the user that are marked: the end of the last answer is in the cache by the mark before it. */
const markedTurns = 2

/** How an API marks the end of a list of blocks. */
export interface Marking {
  /** Finds the list of tools among the members of a body. */
  readonly findTools: (json: string, members: ReadonlyMap<string, Place>) => Place | undefined
  /** Whether a mark may follow a block, or a tool. */
  readonly canCarry: (block: unknown) => boolean
  /** Marks a block. */
  readonly mark: (json: string, block: Place) => TextEdit
  /** Writes a text as a list with one marked block; absent where a text is no content. */
  readonly markText?: (json: string) => string
}

/**
 * Marks a body, and keeps all other bytes of it. One with a mark anywhere, or with something that looks like one, stays
 * as its client wants it.
 */
export function markBody(body: Uint8Array, marking: Marking): Uint8Array {
  if (scanLayout(body, []).cacheLife !== 'none') return body
  const json = decoder.decode(body)
  const edits = listEdits(json, marking)
  return edits.length === 0 ? body : encoder.encode(editText(json, edits))
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function listEdits(json: string, marking: Marking): readonly TextEdit[] {
  const members = placeMembers(json)
  const lists = [marking.findTools(json, members), members.get('system')]
  return [
    ...lists.flatMap((list) => markList(json, list, marking) ?? []),
    ...listTurns(json, members.get('messages')).flatMap(
      (turn) => markTurn(json, turn, marking) ?? [],
    ),
  ]
}

/** Marks the last block of a list that can carry a mark. */
function markList(json: string, list: Place | undefined, marking: Marking): TextEdit | undefined {
  if (!list) return undefined
  const { canCarry, mark, markText } = marking
  if (json[list.start] === '"') {
    const text = json.slice(list.start, list.end)
    return markText && !isBlank(parseJson(text)) ? { ...list, text: markText(text) } : undefined
  }
  const block = placeItems(json, list).findLast(({ start, end }) =>
    canCarry(parseJson(json.slice(start, end))),
  )
  return block && mark(json, block)
}

/** The contents of messages of the user that follow each other, in their order. */
type Turn = readonly Place[]

/** Returns the last turns of the user, the latest first. */
function listTurns(json: string, list: Place | undefined): readonly Turn[] {
  const turns: Place[][] = []
  let isOpen = false
  for (const message of placeItems(json, list).toReversed()) {
    const members = placeMembers(json, message.start)
    const role = members.get('role')
    const content = members.get('content')
    const isUser = role !== undefined && parseJson(json.slice(role.start, role.end)) === 'user'
    if (isUser && !isOpen) {
      if (turns.length === markedTurns) break
      turns.push([])
    }
    isOpen = isUser
    if (isUser && content) turns.at(-1)?.unshift(content)
  }
  return turns
}

function markTurn(json: string, turn: Turn, marking: Marking): TextEdit | undefined {
  for (const content of turn.toReversed()) {
    const edit = markList(json, content, marking)
    if (edit) return edit
  }
  return undefined
}

/** True for what the vendors refuse to mark among texts. */
export function isBlank(text: unknown): boolean {
  return typeof text !== 'string' || text.trim() === ''
}
