import type { Millis } from '../../src/core/ids.ts'
import type { SharedServer } from './shared-server.ts'

interface Parking {
  readonly status: string
  /** `Infinity` for until the next reload. */
  readonly until: Millis
}

/** Adds a simple model of the functions for parked credentials to a server in memory. `now`: its clock. */
export function addParkings(server: SharedServer, now: () => Millis): void {
  const parkings = new Map<string, Parking>()
  const describe = (place: string, { status, until }: Parking) =>
    `${status} ${until === Number.POSITIVE_INFINITY ? '-' : until - now()} ${place}`
  const { functions } = server
  functions.set('park', (place = '', status = '', wait = '') => {
    const parking = {
      status,
      until: wait === '-' ? Number.POSITIVE_INFINITY : now() + Number(wait),
    }
    const known = parkings.get(place)
    if (!known || known.until + 1000 < parking.until) {
      parkings.set(place, parking)
      void server.send('parked', describe(place, parking))
    }
    return [String(now())]
  })
  functions.set('park_list', () => {
    for (const [place, { until }] of parkings) if (until <= now()) parkings.delete(place)
    return [String(now()), ...Array.from(parkings, (entry) => describe(...entry))]
  })
  functions.set('park_reload', () => {
    for (const [place, { until }] of parkings) {
      if (until === Number.POSITIVE_INFINITY) parkings.delete(place)
    }
    void server.send('parked', `reload ${now()}`)
    return [String(now())]
  })
}
