import { type GatewayError, renderError } from '../core/errors.ts'
import { encodeDataEvent } from './chunk-writer.ts'

/**
 * The last frame of a committed stream that failed. No `[DONE]` follows: official SDKs take an
 * ended stream for a complete one, so this frame is the only sign that it is not.
 */
export function encodeErrorFrame(error: GatewayError, requestId: string): Uint8Array {
  return encodeDataEvent(renderError(error, requestId))
}
