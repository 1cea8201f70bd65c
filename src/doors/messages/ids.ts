import { decodeBase64, encodeBase64 } from '../../wire/base64.ts'

/** Creates the id of an answer. */
export function newMessageId(): string {
  return `msg_${newHex()}`
}

/** How an id begins that holds the id of the vendor in an encoded form. */
const mark = 'gateway-id-'

/** Gives tool calls ids in the alphabet of the API, `^[a-zA-Z0-9_-]+$`, each once in an answer. */
export class AnswerToolIds {
  readonly #taken = new Set<string>()

  /** Returns the vendor's id where it is usable, and otherwise one from which `restoreId` makes it again. */
  assign(id: string): string {
    const isUsable = /^[a-zA-Z0-9_-]+$/.test(id) && !id.startsWith(mark)
    const plain = id === '' ? `toolu_${newHex()}` : isUsable ? id : encodeId(id, 1)
    let unique = plain
    for (let copy = 2; this.#taken.has(unique); copy++) unique = encodeId(id, copy)
    this.#taken.add(unique)
    return unique
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** `copy` tells several calls apart that have one id. Only the first one gets the vendor's back. */
function encodeId(id: string, copy: number): string {
  const base64 = encodeBase64(encoder.encode(`${copy}:${id}`))
  return mark + base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/**
 * Returns the id that the vendor has given, from one that `AnswerToolIds` has assigned. Further calls with the same id
 * keep theirs, so that each result finds its call.
 */
export function restoreId(id: string): string {
  if (!id.startsWith(mark)) return id
  const base64 = id.slice(mark.length).replaceAll('-', '+').replaceAll('_', '/')
  const bytes = decodeBase64(base64.padEnd(Math.ceil(base64.length / 4) * 4, '='))
  if (!bytes) return id
  const [, vendorId] = /^1:([^]*)$/.exec(decoder.decode(bytes)) ?? []
  return vendorId ?? id
}

function newHex(): string {
  return crypto.randomUUID().replaceAll('-', '').slice(0, 24)
}
