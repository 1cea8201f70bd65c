import { type GatewayError, renderError } from '../core/errors.ts'
import { dataEvent } from './chunk-writer.ts'

/**
 * The last frame of a committed stream that failed. No `[DONE]` follows: official SDKs take an
 * ended stream for a complete one, so this frame is the only sign that it is not.
 */
export function errorFrame(error: GatewayError, requestId: string): Uint8Array {
  return dataEvent(renderError(error, requestId))
}
