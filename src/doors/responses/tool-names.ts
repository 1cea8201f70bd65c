import { blake3Hex } from '../../wire/digest.ts'

/** The name of a tool in the Responses API. */
export interface ToolName {
  readonly namespace: string | undefined
  readonly name: string
}

/** The function that takes the place of a `tool_search` tool. No other tool gets this name. */
export const toolSearchName = 'tool_search____client'

/** The limit of most vendors, in characters. */
const maxLength = 64
const validName = new RegExp(`^[A-Za-z0-9_-]{1,${maxLength}}$`)
const separator = '___'
const hashMark = '____'
const hashLength = 10
const hashedName = new RegExp(`${hashMark}[0-9a-f]{${hashLength}}$`)

/**
 * Returns the name of a tool as a chat function: 1 to 64 letters, digits, `_` and `-`. The same tool always
 * gets the same name, and two tools never share one. A tool outside a namespace keeps its name, unless
 * that is invalid, or looks like a joined name.
 */
export function joinToolName(tool: ToolName): string {
  const { namespace, name } = tool
  if (namespace === undefined) {
    return validName.test(name) && !isReserved(name) ? name : hashToolName(tool)
  }
  const joined = `${namespace}${separator}${name}`
  return isJoined(joined) ? joined : hashToolName(tool)
}

/** Returns the tool of a joined name. The hash of a long name cannot be undone: its tool has that name. */
export function splitToolName(joined: string): ToolName {
  if (!isJoined(joined)) return { namespace: undefined, name: joined }
  const at = joined.indexOf(separator)
  return { namespace: joined.slice(0, at), name: joined.slice(at + separator.length) }
}

/** True for a valid name that can be split in one place only: at its only run of three underscores. */
function isJoined(name: string): boolean {
  if (!validName.test(name)) return false
  const runs = name.match(/_{3,}/g) ?? []
  const isSingle = runs.length === 1 && runs[0] === separator
  return isSingle && !name.startsWith(separator) && !name.endsWith(separator)
}

function isReserved(name: string): boolean {
  return isJoined(name) || hashedName.test(name) || name === toolSearchName
}

/** Four underscores precede the hash, so that no joined name looks like a hashed one. */
function hashToolName({ namespace, name }: ToolName): string {
  const hash = blake3Hex(JSON.stringify([namespace ?? null, name])).slice(0, hashLength)
  const words = namespace === undefined ? name : `${namespace}_${name}`
  const readable = words
    .slice(0, maxLength)
    .replace(/[^A-Za-z0-9-]+/g, '_')
    .slice(0, maxLength - hashMark.length - hashLength)
  return `${readable}${hashMark}${hash}`
}
