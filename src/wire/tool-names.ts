import type { Steps } from '../core/steps.ts'
import { blake3Hex } from './digest.ts'

/** The limit of most vendors: https://platform.openai.com/docs/api-reference/chat/create#chat-create-tools */
const maxLength = 64
const hashLength = 10
/** How many names are hashed at once: less than a millisecond's work. */
const hashedAtOnce = 32

/** The names of the tools of a request, as the client and as the upstream know them. */
export interface ToolNames {
  /** Returns the upstream's name. */
  shorten(name: string): string
  /** Returns the client's name. */
  restore(name: string): string
}

/** Names that need no change. */
export const sameNames: ToolNames = Object.freeze({
  shorten: (name: string) => name,
  restore: (name: string) => name,
})

/**
 * Gives the tools of a request names that the upstream accepts. A replacement has at most 64 letters, digits
 * and `_`, and begins with a letter or `_`, which every vendor accepts. The same name always gets the same
 * replacement, so a history agrees with the tools. Yields between names that must be replaced.
 */
export function* createToolNames(
  names: Iterable<string>,
  isValid: (name: string) => boolean,
): Steps<ToolNames> {
  const replacements = new Map<string, string>()
  for (const name of names) {
    if (isValid(name) || replacements.has(name)) continue
    replacements.set(name, hashName(name))
    if (replacements.size % hashedAtOnce === 0) yield
  }
  if (replacements.size === 0) return sameNames
  const originals = new Map([...replacements].map(([name, short]) => [short, name]))
  return {
    shorten: (name) => replacements.get(name) ?? name,
    restore: (name) => originals.get(name) ?? name,
  }
}

function hashName(name: string): string {
  const hash = blake3Hex(name).slice(0, hashLength)
  // Cut first: a name may be as long as the request.
  const readable = name.slice(0, maxLength - hashLength - 2).replace(/[^a-zA-Z0-9]+/g, '_')
  return `${/^\d/.test(readable) ? '_' : ''}${readable}_${hash}`
}
