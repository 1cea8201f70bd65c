import * as z from 'zod'
import type { UpstreamFailure } from '../../core/failure.ts'
import type { HeaderReader, UpstreamError } from '../../core/provider.ts'
import type { AwsMessage } from '../../wire/aws-event-stream.ts'
import { tryParseJson } from '../../wire/json.ts'
import { extractMessage } from '../shared/error-message.ts'
import { parseVendorError, toVendorError } from '../shared/vendor-error.ts'

/** What a status outside 2xx means, by the type of the error where it tells one. */
export function bedrockRefusal(status: number, body: string, header: HeaderReader): UpstreamError {
  const error = parseError(body)
  const type = bareType(header('x-amzn-errortype') ?? error['__type'] ?? error.code ?? '')
  const { message, vendor } = parseVendorError(body)
  return {
    status: statusOf(type, error, status),
    message: extractMessage(error.Message) || message,
    vendor: { ...vendor, type: type || undefined },
  }
}

/**
 * The failure that a message of a stream tells of: an exception of the API, or an error that the
 * transport names in headers alone. Whatever does not blame the request may go better next time.
 */
export function streamFailure(
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
  const error = parseError(body)
  const message = extractMessage(error.message ?? error.originalMessage ?? exception)
  const status = statusOf(capitalized(exception), error, 500)
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
  /** What the container of the model answered, and its text. */
  originalStatusCode: z.number().optional().catch(undefined),
  originalMessage: optionalText,
})

type ErrorBody = z.infer<typeof errorBody>

function parseError(body: string): ErrorBody {
  return errorBody.safeParse(tryParseJson(body)).data ?? {}
}

/** `com.amazon.coral#Type:http://internal/` is `Type`. */
function bareType(type: string): string {
  return type.slice(type.lastIndexOf('#') + 1).split(':', 1)[0] ?? ''
}

/** The statuses of the service's own table, but 402 and 403 for all that its owner has to mend. */
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

function statusOf(type: string, { originalStatusCode: original }: ErrorBody, told: number): number {
  const status = statusByType.get(type) ?? told
  if (status !== 424) return status
  // A fault of the model behind the number of a client's mistake, unless the model blames the request.
  const isClientFault =
    type === 'ModelErrorException' &&
    original !== undefined &&
    original >= 400 &&
    original < 500 &&
    original !== 429
  return isClientFault ? status : 500
}

/** In streams the types start in lower case. */
function capitalized(type: string): string {
  return type.charAt(0).toUpperCase() + type.slice(1)
}
