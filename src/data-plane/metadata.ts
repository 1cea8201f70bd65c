import type { Metadata } from '../core/settlement.ts'

const maxHeaderBytes = 4096
const maxKeys = 16
const maxKeyBytes = 64
const maxValueBytes = 256

const utf8 = new TextDecoder('utf-8', { fatal: true })
const encoder = new TextEncoder()

export type MetadataReading =
  | { readonly state: 'absent' }
  | { readonly state: 'rejected' }
  | { readonly state: 'accepted'; readonly metadata: Metadata }

/**
 * Reads `x-gateway-metadata` (alias `cf-aig-metadata`): a flat JSON object of strings, numbers and
 * booleans. Anything else never fails a request; it is rejected, counted and forgotten.
 */
export function readMetadata(headers: Headers): MetadataReading {
  const header = headers.get('x-gateway-metadata') ?? headers.get('cf-aig-metadata')
  if (header === null) return { state: 'absent' }
  const metadata = parse(header)
  return metadata === undefined ? { state: 'rejected' } : { state: 'accepted', metadata }
}

function parse(header: string): Metadata | undefined {
  if (header.length > maxHeaderBytes) return undefined
  try {
    const value: unknown = JSON.parse(utf8.decode(latin1Bytes(header)))
    return isMetadata(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Header values arrive with one character a byte; the bytes themselves are UTF-8. */
function latin1Bytes(header: string): Uint8Array {
  return Uint8Array.from(header, (character) => {
    const code = character.charCodeAt(0)
    if (code > 0xff) throw new RangeError('not a header value')
    return code
  })
}

function isMetadata(value: unknown): value is Metadata {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const entries = Object.entries(value)
  return entries.length <= maxKeys && entries.every(isEntry)
}

function isEntry([key, value]: [string, unknown]): boolean {
  if (byteLength(key) > maxKeyBytes) return false
  switch (typeof value) {
    case 'string':
      return byteLength(value) <= maxValueBytes
    case 'number':
      return Number.isFinite(value) && byteLength(String(value)) <= maxValueBytes
    case 'boolean':
      return true
    default:
      return false
  }
}

function byteLength(text: string): number {
  return encoder.encode(text).length
}
