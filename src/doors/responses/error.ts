import { type ErrorCode, type GatewayError, renderError } from '../../core/errors.ts'

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
function toOpenAiCode({ code, status }: GatewayError): string {
  return clientCodes.get(code) ?? (status === 429 ? 'rate_limit_exceeded' : code)
}

const clientCodes: ReadonlyMap<ErrorCode, string> = new Map([
  ['LM-2012', 'context_length_exceeded'],
  ['LM-2013', 'content_filter'],
  ['LM-4001', 'insufficient_quota'],
])
