import { blake3Hex } from '../../../wire/digest.ts'

/** The limit of most vendors: https://platform.openai.com/docs/api-reference/chat/create#chat-create-tools */
const maxLength = 64
const validName = /^[a-zA-Z0-9_-]{1,64}$/
const hashLength = 10

/** The names of the tools of a request, as the client and as the upstream know them. */
export interface ToolNames {
  /** Returns the upstream's name. */
  shorten(name: string): string
  /** Returns the client's name. */
  restore(name: string): string
}

/** Names that need no change. */
const sameNames: ToolNames = { shorten: (name) => name, restore: (name) => name }

/**
 * Gives the tools of a request names that every vendor accepts: 1 to 64 letters, digits, `_` and `-`. The same
 * name always gets the same replacement, so a history agrees with the tools.
 */
export function createToolNames(names: Iterable<string>, reserved: readonly string[]): ToolNames {
  const given = new Set(names)
  const isValid = (name: string) => validName.test(name) && !reserved.includes(name)
  const invalid = [...given].filter((name) => !isValid(name))
  if (invalid.length === 0) return sameNames
  const originals = new Map(invalid.map((name) => [hashName(name), name]))
  return {
    shorten: (name) => (isValid(name) ? name : hashName(name)),
    restore: (name) => originals.get(name) ?? name,
  }
}

function hashName(name: string): string {
  const hash = blake3Hex(name).slice(0, hashLength)
  const readable = name.replace(/[^a-zA-Z0-9-]+/g, '_').slice(0, maxLength - hashLength - 1)
  return `${readable}_${hash}`
}
