import type { Principal } from '../../core/admission.ts'
import { toClientError } from '../../core/failure.ts'
import type { Millis } from '../../core/ids.ts'
import type { Clock } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import type { Rooms } from '../../rooms/index.ts'
import type { CancelScope } from '../../wire/cancel-scope.ts'
import type { HeldPlaces } from './held-places.ts'

/** A request that waits for room at one of these links. */
export interface WaitingRequest {
  readonly links: readonly Model[]
  readonly rooms: Rooms
  readonly scope: CancelScope
  readonly clock: Clock
  readonly arrived: Millis
  readonly sender: Principal | undefined
  readonly places: HeldPlaces
}

/**
 * Waits for a place at one of the links, which the request then holds, until the total timeout at most. Resolves to
 * undefined when none has a place in time. Rejects with the error for the client when the request ends meanwhile.
 */
export function waitForRoom(request: WaitingRequest): Promise<Model | undefined> {
  const { links, rooms, clock, arrived, sender, places } = request
  const [first] = links
  if (!first) return Promise.resolve(undefined)
  const began = clock.elapsed()
  const scope = request.scope.open()
  let isOver = false
  let hasWaited = false
  const total = Math.max(...links.map(({ provider }) => provider.totalTimeout))
  return new Promise<Model | undefined>((resolve, reject) => {
    const account = sender?.account
    const leave = rooms.wait({
      links,
      priority: sender?.priority ?? 'normal',
      account: account?.groupId ?? account?.keyId ?? '',
      // At once: the place must not be lost when the request ends before the promise is seen.
      onPlace(link, place) {
        places.hold(place)
        isOver = true
        resolve(link)
      },
      onEnd() {
        isOver = true
        resolve(undefined)
      },
    })
    hasWaited = !isOver
    scope.endAfter(arrived + total - clock.elapsed(), { kind: 'timeout', limit: 'total' })
    scope.onEnd((failure) => {
      leave()
      reject(toClientError(failure, first.provider.name))
    })
  }).finally(() => {
    scope.close()
    if (hasWaited) places.addQueued(clock.elapsed() - began)
  })
}
