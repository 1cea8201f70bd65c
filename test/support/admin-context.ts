import type { RequestId } from '../../src/core/ids.ts'
import type { CancelSignal } from '../../src/core/ports.ts'
import { LightAbortController } from '../../src/wire/light-abort-controller.ts'

/** The request context of an admin route. */
export function adminContext(signal: CancelSignal = new LightAbortController()) {
  return { id: 'request' as RequestId, signal }
}
