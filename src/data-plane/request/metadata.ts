import type { Metadata } from '../../core/metadata.ts'
import { strictUtf8 } from '../../wire/json/steps.ts'

const maxHeaderBytes = 4096
const maxKeys = 16
const maxKeyBytes = 64
const maxValueBytes = 256

const encoder = new TextEncoder()

export type MetadataResult =
  | { readonly state: 'absent' }
  /** `reason` never quotes the header. */
  | { readonly state: 'rejected'; readonly reason: string }
  | { readonly state: 'accepted'; readonly metadata: Metadata }

/**
 * Reads `x-gateway-metadata` (alias `cf-aig-metadata`): a flat JSON object of strings, numbers and
 * booleans. Anything else is rejected and counted, and the request goes on without metadata.
 */
export function readMetadata(headers: Headers): MetadataResult {
  const header = headers.get('x-gateway-metadata') ?? headers.get('cf-aig-metadata')
  if (header === null) return { state: 'absent' }
  if (header.length > maxHeaderBytes) {
    return { state: 'rejected', reason: `the header is longer than ${maxHeaderBytes} bytes` }
  }
  const value = parse(header)
  const problem = findProblem(value)
  // A value without a problem is metadata.
  return problem === undefined
    ? { state: 'accepted', metadata: value as Metadata }
    : { state: 'rejected', reason: problem }
}

/** Returns undefined for a header that is not JSON; no JSON text parses to undefined. */
function parse(header: string): unknown {
  try {
    return JSON.parse(strictUtf8.decode(latin1Bytes(header)))
  } catch {
    return undefined
  }
}

/** Header values arrive with one character for each byte; the bytes themselves are UTF-8. */
function latin1Bytes(header: string): Uint8Array {
  return Uint8Array.from(header, (character) => {
    const code = character.charCodeAt(0)
    if (code > 0xff) throw new RangeError('not a header value')
    return code
  })
}

function findProblem(value: unknown): string | undefined {
  if (value === undefined) return 'the header is not JSON in UTF-8'
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'the header is not a JSON object'
  }
  const entries = Object.entries(value)
  if (entries.length > maxKeys) return `it has more than ${maxKeys} keys`
  return entries.map(findEntryProblem).find((problem) => problem !== undefined)
}

function findEntryProblem([key, value]: [string, unknown]): string | undefined {
  if (byteLength(key) > maxKeyBytes) return `a key is longer than ${maxKeyBytes} bytes`
  const isScalar = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
  if (!isScalar) return 'a value is not a string, a number or a boolean'
  return byteLength(String(value)) > maxValueBytes
    ? `a value is longer than ${maxValueBytes} bytes`
    : undefined
}

function byteLength(text: string): number {
  return encoder.encode(text).length
}
