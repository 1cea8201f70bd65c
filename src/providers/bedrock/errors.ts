import * as z from 'zod'
import type { HeaderReader, UpstreamError } from '../../core/endpoints.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import type { AwsMessage } from '../../wire/aws-event-stream.ts'
import { tryParseJson } from '../../wire/json/parse.ts'
import { extractMessage } from '../base/error-message.ts'
import { parseVendorError, toVendorError } from '../base/vendor-error.ts'

/** Reads an answer with an error status. The type of the error, if known, determines the status. */
export function parseBedrockError(
  status: number,
  body: string,
  header: HeaderReader,
): UpstreamError {
  const error = parseErrorBody(body)
  const type = toBareType(header('x-amzn-errortype') ?? error['__type'] ?? error.code ?? '')
  const { message, vendor } = parseVendorError(body)
  return {
    status: resolveStatus(type, error, status),
    message: extractMessage(error.Message) || message,
    vendor: { ...vendor, type: type || undefined },
  }
}

/**
 * Reads a failure inside a stream: an exception of the API, or an error of the transport, which has
 * headers only. A failure with a status of 500 or above, or none, is a fault of the upstream.
 */
export function parseStreamFailure(
  { headers, payload }: AwsMessage,
  mask: (text: string) => string,
): UpstreamFailure {
  const exception = headers.get(':exception-type')
  if (exception === undefined) {
    const text = headers.get(':error-message') ?? headers.get(':error-code') ?? ''
    const message = extractMessage(mask(text))
    return { kind: 'error-frame', message, vendor: { code: headers.get(':error-code'), message } }
  }
  const body = mask(decoder.decode(payload))
  const error = parseErrorBody(body)
  const message = extractMessage(error.message ?? error.originalMessage ?? exception)
  const status = resolveStatus(capitalize(exception), error, 500)
  const vendor = { ...toVendorError(tryParseJson(body)), type: exception }
  return status < 500
    ? { kind: 'status', status, message, vendor }
    : { kind: 'error-frame', message, vendor }
}

const decoder = new TextDecoder()

const optionalText = z.string().optional().catch(undefined)

const errorBody = z.looseObject({
  __type: optionalText,
  code: optionalText,
  message: optionalText,
  Message: optionalText,
  /** The status and the text with which the model itself answered. */
  originalStatusCode: z.number().optional().catch(undefined),
  originalMessage: optionalText,
})

type ErrorBody = z.infer<typeof errorBody>

function parseErrorBody(body: string): ErrorBody {
  return errorBody.safeParse(tryParseJson(body)).data ?? {}
}

/** Reduces `com.amazon.coral#Type:http://internal/` to `Type`. */
function toBareType(type: string): string {
  return type.slice(type.lastIndexOf('#') + 1).split(':', 1)[0] ?? ''
}

/**
 * The statuses of AWS's own table, except for errors that only the owner of the account or the key can
 * correct: those are 402 and 403 here.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
 */
const statusByType: ReadonlyMap<string, number> = new Map([
  ['ValidationException', 400],
  ['ValidationError', 400],
  ['ConflictException', 400],
  ['ServiceQuotaExceededException', 402],
  ['AccessDeniedException', 403],
  ['ExpiredTokenException', 403],
  ['FTUFormNotFilled', 403],
  ['IncompleteSignature', 403],
  ['InvalidClientTokenId', 403],
  ['InvalidSignatureException', 403],
  ['NotAuthorized', 403],
  ['RequestExpired', 403],
  ['UnrecognizedClientException', 403],
  ['ResourceNotFoundException', 404],
  ['UnknownOperationException', 404],
  ['ModelTimeoutException', 408],
  ['ModelErrorException', 424],
  ['ModelStreamErrorException', 424],
  ['ModelNotReadyException', 429],
  ['ThrottlingException', 429],
  ['InternalFailure', 500],
  ['InternalServerException', 500],
  ['ServiceUnavailable', 503],
  ['ServiceUnavailableException', 503],
])

function resolveStatus(type: string, error: ErrorBody, received: number): number {
  const { originalStatusCode: original } = error
  const status = statusByType.get(type) ?? received
  if (status !== 424) return status
  // 424 reports a fault of the model, except where the model itself has rejected the request.
  const isClientFault =
    type === 'ModelErrorException' &&
    original !== undefined &&
    original >= 400 &&
    original < 500 &&
    original !== 429
  return isClientFault ? status : 500
}

/** Exception types of a stream start in lower case. */
function capitalize(type: string): string {
  return type.charAt(0).toUpperCase() + type.slice(1)
}
