import { type Problem, renderProblem } from '../config/index.ts'
import type { ConfigFile } from '../core/config-file.ts'
import { formatSystemCode } from '../core/error-fields.ts'
import { GatewayError, invalid } from '../core/errors.ts'
import { blake3Hex } from '../wire/digest.ts'

/** Maximum bytes of a replacement, enough for thousands of models: parsing blocks the event loop. */
const maxBytes = 1024 * 1024

/** The configuration file as admins see it. */
export interface ConfigText {
  readonly config: string
  /** BLAKE3 of the bytes, 64 lowercase hex digits. */
  readonly hash: string
}

/** Reads the file for display. Bytes that are not UTF-8 become U+FFFD; the hash is of the bytes. */
export async function readConfigText(file: ConfigFile): Promise<ConfigText> {
  const bytes = await file.read()
  return { config: lenientUtf8.decode(bytes), hash: blake3Hex(bytes) }
}

/** The text of the file, or why it cannot be a configuration. Equal hashes mean equal files. */
export type FileContent = { readonly hash: string } & (
  | { readonly text: string }
  | { readonly problem: string }
)

/** Reads the file for a reload. Never rejects. */
export async function readContent(file: ConfigFile): Promise<FileContent> {
  let bytes: Uint8Array
  try {
    bytes = await file.read()
  } catch (error) {
    return { hash: 'unreadable', problem: `cannot be read${formatSystemCode(error)}` }
  }
  const hash = blake3Hex(bytes)
  const text = decodeUtf8(bytes)
  if (text === undefined) return { hash, problem: 'is not valid UTF-8' }
  // An editor that writes in place empties the file first; an empty file would serve no model.
  return isBlank(text) ? { hash, problem: 'is empty' } : { hash, text }
}

/** A successor of the file, and the hash that the file must have for it. */
export interface Replacement {
  readonly text: string
  readonly expectedHash: string
}

/** Parses the body and the `If-Match` header of a replacement; LM-1001 and LM-1002. */
export function parseReplacement(bytes: Uint8Array, ifMatch: string | null): Replacement {
  const expectedHash = parseIfMatch(ifMatch)
  if (bytes.length > maxBytes) {
    throw new GatewayError('LM-1002', `the configuration is over the limit of ${maxBytes} bytes`)
  }
  const text = decodeUtf8(bytes)
  if (text === undefined) throw invalid('the configuration is not valid UTF-8')
  if (isBlank(text)) throw invalid('the configuration is empty')
  return { text, expectedHash }
}

/** Rejects with LM-1004 when the file has another hash. */
export async function checkHash(file: ConfigFile, expected: string): Promise<void> {
  if (blake3Hex(await file.read()) === expected) return
  throw new GatewayError(
    'LM-1004',
    'If-Match differs from the hash of the configuration file; GET it again',
  )
}

/** LM-1001 for a replacement that is not a valid configuration. */
export function rejectConfig(problems: readonly Problem[]): GatewayError {
  const shown = problems.slice(0, maxProblems).map(renderProblem)
  const rest = problems.length - shown.length
  if (rest > 0) shown.push(`and ${rest} more`)
  return invalid(
    `the configuration is refused: ${shown.join('; ')}`,
    problems[0]?.setting || undefined,
  )
}

/** A file in another format has thousands of problems, and only the first ones help. */
const maxProblems = 20

/** The hash in `If-Match`, with or without quotes. */
function parseIfMatch(ifMatch: string | null): string {
  const value = ifMatch?.trim() ?? ''
  const hash = /^"(.*)"$/.exec(value)?.[1] ?? value
  if (hash === '') throw invalid('If-Match is missing: send the hash from GET /admin/config')
  if (hash === '*') throw invalid('If-Match must be the hash of the file: * is not accepted')
  if (hash.startsWith('W/')) {
    throw invalid('If-Match must be the hash of the file: a weak tag is not accepted')
  }
  return hash
}

const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const strictUtf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return undefined
  }
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}
