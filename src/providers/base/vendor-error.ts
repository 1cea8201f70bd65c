import type { UpstreamError } from '../../core/endpoints.ts'
import type { VendorError } from '../../core/vendor-error.ts'
import { isObject, type JsonObject, tryParseJson } from '../../wire/json/parse.ts'
import { extractMessage, parseErrorMessage } from './error-message.ts'

/** An upstream's error: the message for the gateway's own text, and the vendor's members. */
export interface ParsedError {
  /** Empty when the body has no message. */
  readonly message: string
  readonly vendor: VendorError
}

/** Parses the body of an answer with an error status, in any of the vendors' shapes. */
export function parseVendorError(body: string): ParsedError {
  const value = tryParseJson(body)
  const message = value === undefined ? parseErrorMessage(body) : extractMessage(value)
  return { message, vendor: toVendorError(value) }
}

/** Reads an error from a parsed body, a stream event, or the error object itself. */
export function toVendorError(value: unknown): VendorError {
  // Google's OpenAI layer wraps its error in a list.
  const body = Array.isArray(value) ? value[0] : value
  if (!isObject(body)) return typeof body === 'string' ? { message: extractMessage(body) } : {}
  const error = findErrorObject(body)
  return {
    code: readCode(error) ?? readBaseCode(body),
    type: toText(error['type']) ?? toText(error['error_type']) ?? toText(error['__type']),
    param: toText(error['param']),
    message: extractMessage(body) || undefined,
    details: listDetails(error),
  }
}

/** Finds the error object: in `error`, as the first of `errors`, or the body itself. */
function findErrorObject(body: JsonObject): JsonObject {
  const { error, errors } = body
  if (isObject(error)) return error
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  return isObject(first) ? first : body
}

/** Google puts the HTTP status into `code` and the error code into `status`. */
function readCode({ code, status }: JsonObject): string | number | undefined {
  const name = toText(status)
  if (name !== undefined && /^[A-Z_]+$/.test(name)) return name
  return toText(code) ?? (typeof code === 'number' ? code : undefined)
}

/** MiniMax has its code in `base_resp`, beside the text. */
function readBaseCode({ base_resp: base }: JsonObject): number | undefined {
  const code = isObject(base) ? base['status_code'] : undefined
  return typeof code === 'number' && code !== 0 ? code : undefined
}

/** The members that are read elsewhere, and those of an answer beside the error. */
const knownMembers: ReadonlySet<string> = new Set(
  [
    'code type error_type __type param message Message error object status title base_resp',
    'choices content output candidates delta response usage usageMetadata',
  ].flatMap((names) => names.split(' ')),
)

function listDetails(error: JsonObject): VendorError['details'] {
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

/** Returns the status to act on, for a vendor that uses a status with another meaning. */
export type MapStatus = (status: number, message: string) => number

/** Creates the parser of responses with an error status. */
export function createErrorParser(
  mapStatus?: MapStatus,
): (status: number, body: string) => UpstreamError {
  return (status, body) => {
    const error = parseVendorError(body)
    return { ...error, status: mapStatus?.(status, error.message) ?? status }
  }
}
