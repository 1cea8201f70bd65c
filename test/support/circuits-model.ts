import type { Millis } from '../../src/core/ids.ts'
import type { SharedServer } from './shared-server.ts'

interface Circuit {
  faults: number
  openUntil: Millis | undefined
  probe: string
  probeEnd: Millis
  version: number
}

const closed = { faults: 0, openUntil: undefined, probe: '', probeEnd: 0 }

/** Adds a simple model of the functions for circuits to a server in memory. `now`: its clock. */
export function addCircuits(server: SharedServer, now: () => Millis): void {
  const circuits = new Map<string, Circuit>()
  let version = 0
  const read = (name: string): Circuit => circuits.get(name) ?? { ...closed, version: ++version }
  const describe = (
    name: string,
    { faults, openUntil, probe, probeEnd, version: own }: Circuit,
  ) => {
    const isOpen = openUntil !== undefined
    const openFor = isOpen ? Math.max(0, openUntil - now()) : '-'
    const probingFor = isOpen && probe !== '' ? Math.max(0, probeEnd - now()) : 0
    return `${own} ${faults} ${openFor} ${probingFor} ${name}`
  }
  const reply = (name: string, circuit: Circuit) => [String(now()), describe(name, circuit)]
  const write = (name: string, change: Partial<Circuit>) => {
    const circuit = { ...read(name), ...change, version: ++version }
    if (circuit.openUntil === undefined && circuit.faults === 0) circuits.delete(name)
    else circuits.set(name, circuit)
    void server.send('circuits', describe(name, circuit))
    return reply(name, circuit)
  }
  const { functions } = server
  functions.set('circuit_fault', (name = '', threshold, cooldown) => {
    const { faults, openUntil, ...circuit } = read(name)
    if (openUntil !== undefined) return reply(name, { faults, openUntil, ...circuit })
    const opens = faults + 1 >= Number(threshold)
    return write(name, {
      faults: faults + 1,
      ...(opens && { openUntil: now() + Number(cooldown) }),
    })
  })
  functions.set('circuit_recover', (name = '') => {
    const circuit = read(name)
    const isCounting = circuit.openUntil === undefined && circuit.faults > 0
    return isCounting ? write(name, { faults: 0 }) : reply(name, circuit)
  })
  functions.set('circuit_probe', (name = '', id = '', lease) => {
    const circuit = read(name)
    const { openUntil, probe, probeEnd } = circuit
    const isHalfOpen = openUntil !== undefined && openUntil <= now()
    const isFree = probe === '' || probeEnd <= now()
    if (!isHalfOpen || !isFree) return reply(name, circuit)
    return [...write(name, { probe: id, probeEnd: now() + Number(lease) }), id]
  })
  functions.set('circuit_renew', (name = '', id, lease) => {
    const circuit = read(name)
    if (circuit.probe !== id) return reply(name, circuit)
    return write(name, { probeEnd: now() + Number(lease) })
  })
  functions.set('circuit_end', (name = '', id, outcome, number) => {
    const circuit = read(name)
    if (circuit.openUntil === undefined || circuit.probe !== id) return reply(name, circuit)
    if (outcome === 'closed') {
      return write(name, { probe: '', openUntil: undefined, faults: Number(number) })
    }
    const openUntil = outcome === 'open' ? now() + Number(number) : circuit.openUntil
    return write(name, { probe: '', openUntil })
  })
  functions.set('circuit_sync', (...args) => {
    for (let at = 0; at < args.length; at += 2) {
      const name = args[at] ?? ''
      const openUntil = now() + Number(args[at + 1])
      const known = read(name).openUntil
      if (known === undefined || known + 1000 < openUntil) write(name, { openUntil })
    }
    return [String(now()), ...Array.from(circuits, (entry) => describe(...entry))]
  })
}
