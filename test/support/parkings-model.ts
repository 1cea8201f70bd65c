import type { Millis } from '../../src/core/ids.ts'
import type { SharedServer } from './shared-server.ts'

interface Parking {
  readonly refusals: number
  readonly until: Millis
}

const day = 86_400_000

/** Adds a simple model of the functions for parked credentials to a server in memory. `now`: its clock. */
export function addParkings(server: SharedServer, now: () => Millis): void {
  const parkings = new Map<string, Parking>()
  const describe = (field: string, { refusals, until }: Parking) =>
    `${refusals} ${Math.max(0, until - now())} ${field}`
  const { functions } = server
  functions.set('park', (field = '', refusals = '', wait = '') => {
    const parking = { refusals: Number(refusals), until: now() + Number(wait) }
    const known = parkings.get(field)
    if (!known || known.until + 1000 < parking.until) {
      parkings.set(field, parking)
      void server.send('parked', describe(field, parking))
    }
    return [String(now())]
  })
  functions.set('park_free', (field = '') => {
    if (parkings.delete(field)) void server.send('parked', `free ${field}`)
    return [String(now())]
  })
  functions.set('park_list', () => {
    for (const [field, { refusals, until }] of parkings) {
      if (until + (refusals > 0 ? day : 0) <= now()) parkings.delete(field)
    }
    return [String(now()), ...Array.from(parkings, (entry) => describe(...entry))]
  })
  functions.set('park_reload', () => {
    for (const [field, { refusals }] of parkings) if (refusals > 0) parkings.delete(field)
    void server.send('parked', `reload ${now()}`)
    return [String(now())]
  })
}
