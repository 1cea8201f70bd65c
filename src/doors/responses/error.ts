import { type GatewayError, renderError } from '../../core/errors.ts'
import type { VendorError } from '../../core/vendor-error.ts'

/** The members of an error that this API adds to those of the chat API, or replaces. */
export interface ResponsesError {
  /** OpenAI's own code where clients act on it, else the code of the gateway. */
  readonly code: string
  readonly gateway_code: string
  readonly message: string
}

/** Renders the body of an error answer. */
export function renderResponsesError(
  error: GatewayError,
  requestId: string,
): { readonly error: ResponsesError } {
  const body = renderError(error, requestId).error
  return {
    error: {
      ...body,
      code: toOpenAiCode(error),
      gateway_code: error.code,
      message: error.message,
    },
  }
}

/**
 * The codes on which clients of OpenAI act: Codex stops at two of them instead of repeating the request.
 * https://platform.openai.com/docs/guides/error-codes
 */
function toOpenAiCode({ code, status, detail: { fields } }: GatewayError): string {
  if (code === 'LM-4001') return 'insufficient_quota'
  // `toClientError` sets this field to the vendor's error.
  const upstream = fields?.['upstream'] as VendorError | undefined
  if (upstream && isContextExceeded(upstream)) return 'context_length_exceeded'
  return status === 429 ? 'rate_limit_exceeded' : code
}

function isContextExceeded({ code, status, message = '' }: VendorError): boolean {
  if (code === 'context_length_exceeded') return true
  const isRefusal = status === undefined || (status >= 400 && status < 500 && status !== 429)
  return isRefusal && tooLong.some((pattern) => pattern.test(message))
}

/** How vendors without a code of their own say that a prompt does not fit. */
const tooLong: readonly RegExp[] = [
  /prompt is too long/i,
  /input is too long/i,
  /too many (?:input )?tokens/i,
  /maximum context length/i,
  /exceeds? (?:the )?(?:available |maximum |model's )*context (?:size|length|window)/i,
  /context (?:size|length|window)[^.]* exceeded/i,
  /input token count[^.]* exceeds/i,
  /maximum (?:allowed )?number of (?:input )?tokens/i,
  /prompt contains \d+ tokens/i,
]
