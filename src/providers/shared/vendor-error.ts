import type { UpstreamError } from '../../core/provider.ts'
import type { VendorError } from '../../core/vendor-error.ts'
import { isObject, tryParseJson } from '../../wire/json.ts'
import { extractMessage, parseErrorMessage } from './error-message.ts'

/** An upstream's error, for the gateway's own message and as the vendor has put it. */
export interface ParsedError {
  /** Empty when there is none. */
  readonly message: string
  readonly vendor: VendorError
}

/** Reads the body of an answer with an error status, in whichever of the vendors' shapes it is. */
export function parseVendorError(body: string): ParsedError {
  return { message: parseErrorMessage(body), vendor: toVendorError(tryParseJson(body)) }
}

/** Reads an error that has been parsed: a body, an event of a stream, or the error object itself. */
export function toVendorError(value: unknown): VendorError {
  // Google's OpenAI layer wraps its error in a list.
  const body = Array.isArray(value) ? value[0] : value
  if (!isObject(body)) return typeof body === 'string' ? { message: extractMessage(body) } : {}
  const error = findErrorObject(body)
  return {
    code: readCode(error),
    type: toText(error['type']) ?? toText(error['error_type']) ?? toText(error['__type']),
    param: toText(error['param']),
    message: extractMessage(body) || undefined,
    details: listDetails(error),
  }
}

type Members = Readonly<Record<string, unknown>>

/** Where an error stands: in `error`, as the first of `errors`, or at the top of the body. */
function findErrorObject(body: Members): Members {
  const { error, errors } = body
  if (isObject(error)) return error
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  return isObject(first) ? first : body
}

/** Google's `code` repeats the status, and `status` is the code. */
function readCode({ code, status }: Members): string | number | undefined {
  const name = toText(status)
  if (name !== undefined && /^[A-Z_]+$/.test(name)) return name
  return toText(code) ?? (typeof code === 'number' ? code : undefined)
}

/** Members that stand elsewhere in the reading, or say nothing of the error. */
const knownMembers: ReadonlySet<string> = new Set(
  'code type error_type __type param message Message error object status title choices'.split(' '),
)

function listDetails(error: Members): VendorError['details'] {
  const others = Object.entries(error).filter(
    ([name, value]) =>
      value !== null &&
      !knownMembers.has(name) &&
      !(name === 'detail' && typeof value === 'string'),
  )
  return others.length > 0 ? Object.fromEntries(others) : undefined
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The vendor's own meaning of a status, where it differs from everyone's. */
export type MapStatus = (status: number, message: string) => number

/** Judges a refused request by its status and the text in its body. */
export function createErrorParser(
  mapStatus?: MapStatus,
): (status: number, body: string) => UpstreamError {
  return (status, body) => {
    const error = parseVendorError(body)
    return { ...error, status: mapStatus?.(status, error.message) ?? status }
  }
}
