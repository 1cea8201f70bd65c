import type { Millis } from '../../src/core/ids.ts'
import type { SharedServer } from './shared-server.ts'

interface Pin {
  readonly version: number
  readonly text: string
  readonly end: Millis
}

/** Adds a simple model of the functions for pins to a server in memory. `now`: its clock. */
export function addPins(server: SharedServer, now: () => Millis): void {
  const pins = new Map<string, Pin>()
  let last = 0
  const find = (key: string) => {
    const pin = pins.get(key)
    return pin && pin.end > now() ? pin : undefined
  }
  const reply = (pin: Pin | undefined) => {
    const head = [String(now()), 'epoch']
    return pin ? [...head, String(pin.version), String(pin.end - now()), pin.text] : head
  }
  server.functions.set('pin_read', (args = '') => reply(find(JSON.parse(args)[0])))
  server.functions.set('pin_write', (args = '') => {
    const [key, seen, ttl, text] = JSON.parse(args)
    const known = find(key)
    const isSame = known?.text === text
    if (known && !isSame && known.version !== seen) return reply(known)
    const version = known && isSame ? known.version : ++last
    const end = Math.max(now() + ttl, known && isSame ? known.end : 0)
    const pin = { version, text, end }
    pins.set(key, pin)
    void server.send('pins', `${key} ${version} ${end - now()} ${text}`)
    return reply(pin)
  })
}
