import {
  editText,
  placeItems,
  placeMembers,
  type TextEdit,
  type ValueRange,
} from '../../wire/json/entries.ts'
import { isObject, type JsonObject, parseJson } from '../../wire/json/parse.ts'
import { scanLayout } from '../../wire/json/scan.ts'
import { type Splice, splice } from '../../wire/json/splice.ts'

/*
 * Marks of prompt caching that the gateway sets where a request has none: at the end of the tools, of the system text
 * and of the last two turns of the user, four in all, which is what the vendors take.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */

/** The turns of the user that are marked: what the mark of the turn before wrote is read again. */
const markedTurns = 2

/** How an API marks the end of a list of blocks. */
export interface Marking {
  /** The member of the body that holds the tools. */
  readonly toolMember: string
  /** Finds the list of tools in that member. */
  readonly findTools: (json: string, member: ValueRange) => ValueRange | undefined
  /** Whether a mark may follow a block, or a tool. */
  readonly canCarry: (block: unknown) => boolean
  /** True for a block, or a tool, that is or has a mark. */
  readonly isMark: (block: JsonObject) => boolean
  /** Marks a block. */
  readonly mark: (json: string, block: ValueRange) => TextEdit
  /** Writes a text as a list with one marked block; absent where a text is no content. */
  readonly markText?: (json: string) => string
}

/**
 * Marks a body, and keeps all other bytes of it. One with a mark anywhere, or with something that looks like one, stays
 * as its client wants it.
 */
export function markBody(body: Uint8Array, marking: Marking): Uint8Array {
  const { toolMember } = marking
  const { spans, cacheLife } = scanLayout(body, [toolMember, 'system', 'messages'])
  if (cacheLife !== 'none') return body
  const edit = (name: string, list: (json: string, value: ValueRange) => readonly TextEdit[]) => {
    // Of a repeated member the last one counts.
    const span = spans[name]?.at(-1)
    if (!span) return []
    const json = decoder.decode(body.subarray(span.start, span.end))
    const edits = list(json, { start: 0, end: json.length })
    return edits.length === 0 ? [] : [{ span, json: editText(json, edits) }]
  }
  const changes: readonly Splice[] = [
    ...edit(toolMember, (json, value) => markList(json, marking.findTools(json, value), marking)),
    ...edit('system', (json, value) => markList(json, value, marking)),
    ...edit('messages', (json, value) =>
      listTurns(json, value).flatMap((turn) => markTurn(json, turn, marking)),
    ),
  ]
  return changes.length === 0 ? body : splice(body, changes)
}

/** Lists the marks of a body where `markBody` sets them, by dotted paths. */
export function listMarks(body: JsonObject, marking: Marking): readonly string[] {
  const { toolMember, isMark } = marking
  const find = (place: string, list: unknown) =>
    (Array.isArray(list) ? list : []).flatMap((block: unknown, at) =>
      isObject(block) && isMark(block) ? [`${place}.${at}`] : [],
    )
  const held = body[toolMember]
  const tools = isObject(held) ? find(`${toolMember}.tools`, held['tools']) : find(toolMember, held)
  const messages = Array.isArray(body['messages']) ? body['messages'] : []
  return [
    ...tools,
    ...find('system', body['system']),
    ...messages.flatMap((message: unknown, at) =>
      isObject(message) ? find(`messages.${at}.content`, message['content']) : [],
    ),
  ]
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Marks the last block of a list that can carry a mark. */
function markList(
  json: string,
  list: ValueRange | undefined,
  marking: Marking,
): readonly TextEdit[] {
  if (!list) return []
  const { canCarry, mark, markText } = marking
  if (json[list.start] === '"') {
    const text = json.slice(list.start, list.end)
    return markText && !isBlank(parseJson(text)) ? [{ ...list, text: markText(text) }] : []
  }
  const block = placeItems(json, list)
    .slice(-maxTried)
    .findLast(({ start, end }) => canCarry(parseJson(json.slice(start, end))))
  return block ? [mark(json, block)] : []
}

/** So many messages of a turn, and blocks of a message, are tried for a mark from the end: clients may send any. */
const maxTried = 100

/** So many messages from the end are looked at for turns. */
const maxMessages = 1000

/** The contents of messages of the user that follow each other, the latest first. */
type Turn = readonly ValueRange[]

/** Returns the last turns of the user, the latest first. */
function listTurns(json: string, list: ValueRange): readonly Turn[] {
  const turns: ValueRange[][] = []
  let isOpen = false
  for (const message of placeItems(json, list).slice(-maxMessages).toReversed()) {
    const members = placeMembers(json, message.start)
    const role = members.get('role')
    const content = members.get('content')
    const isUser = role !== undefined && parseJson(json.slice(role.start, role.end)) === 'user'
    if (isUser && !isOpen) {
      if (turns.length === markedTurns) break
      turns.push([])
    }
    isOpen = isUser
    const turn = isUser ? turns.at(-1) : undefined
    if (content && turn && turn.length < maxTried) turn.push(content)
  }
  return turns
}

function markTurn(json: string, turn: Turn, marking: Marking): readonly TextEdit[] {
  for (const content of turn) {
    const edits = markList(json, content, marking)
    if (edits.length > 0) return edits
  }
  return []
}

/** True for what the vendors refuse to mark among texts. */
export function isBlank(text: unknown): boolean {
  return typeof text !== 'string' || text.trim() === ''
}
