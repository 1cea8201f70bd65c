import type { RequestId } from '../../src/core/ids.ts'
import type { CancelSignal } from '../../src/core/ports.ts'
import { Cancel } from '../../src/wire/cancel.ts'

/** What a host knows of a request to an admin route. */
export function adminContext(signal: CancelSignal = new Cancel()) {
  return { id: 'request' as RequestId, signal }
}
