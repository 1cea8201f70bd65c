import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { CallIds } from './models.ts'

const longest = 64
/** Mistral models take no other length. */
const mistralLength = 9

/**
 * Ids of tool calls as Converse takes them, each used once, although other vendors write
 * `functions.look:0` and some clients count from 0 in every turn.
 */
export class ToolUseIds {
  readonly #form: CallIds
  readonly #latest = new Map<string, string>()
  readonly #taken = new Set<string>()
  /** How often the translation has renamed each id of the client. */
  readonly #copies = new Map<string, number>()

  constructor(form: CallIds) {
    this.#form = form
  }

  /** The id of a call. */
  opened(id: string): string {
    let legal = legalId(id, this.#form)
    let copies = this.#copies.get(id) ?? 1
    while (this.#taken.has(legal)) {
      legal = digest(`${id} ${++copies}`, this.#form === 'short' ? mistralLength : longest)
    }
    this.#copies.set(id, copies)
    this.#taken.add(legal)
    this.#latest.set(id, legal)
    return legal
  }

  /** The id of the call that a result answers: the latest one that the client calls so. */
  answered(id: string): string {
    return this.#latest.get(id) ?? this.opened(id)
  }
}

function legalId(id: string, form: CallIds): string {
  if (form === 'short') return isShort(id) ? id : digest(id, mistralLength)
  if (id.length > longest) return digest(id, longest)
  return id.replace(form === 'dotted' ? /[^a-zA-Z0-9_.:-]/g : /[^a-zA-Z0-9_-]/g, '_')
}

function isShort(id: string): boolean {
  return id.length === mistralLength && /^[a-zA-Z0-9]+$/.test(id)
}

function digest(text: string, length: number): string {
  return bytesToHex(sha256(utf8ToBytes(text))).slice(0, length)
}
