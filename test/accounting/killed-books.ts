import type { GroupId, KeyId } from '../../src/core/ids.ts'
import type { MemoryStore } from '../support/memory-store.ts'
import type { KillableProcess } from './killed-process.ts'

/** What must agree once all processes run and nothing is held any more. */
export interface KilledBooks {
  readonly store: MemoryStore
  readonly processes: readonly KillableProcess[]
  /** What requests cost that have ended in a process or were refused. */
  readonly costs: ReadonlyMap<string, bigint>
  /** Those whose client has seen the end. */
  readonly answered: ReadonlySet<string>
  /** Those that ran or ended in a process when that was killed, and whose hold the server had. */
  readonly cut: ReadonlySet<string>
  /** Runs a command on the server that returns a list. */
  readonly listOnServer: (command: string, of: string) => readonly string[]
  readonly prefix: string
}

/** Returns what is wrong with the books. */
export function listProblems(books: KilledBooks): string[] {
  const { store, processes, costs, answered, cut, listOnServer, prefix } = books
  const { usage } = store
  const problems: string[] = []
  const check = (what: string, real: unknown, right: unknown) => {
    if (real !== right) problems.push(`${what}: ${real} instead of ${right}`)
  }
  for (const { id, spentTotal, budgetMax } of [...store.keys.values(), ...store.groups.values()]) {
    const rows = usage.filter(({ keyId, groupId }) => keyId === id || groupId === id)
    const sum = rows.reduce((total, { cost }) => total + cost, 0n)
    check(`saved spend of ${id}`, spentTotal, sum)
    if (budgetMax !== null && sum > budgetMax) problems.push(`${id} has passed its cap: ${sum}`)
    for (const process of processes) {
      const account =
        process.accounts.getKey(id as KeyId) ?? process.accounts.getGroup(id as GroupId)
      check(`spend of ${id} in ${process.id}`, account?.spentTotal, sum)
      check(`reserved of ${id} in ${process.id}`, account?.reserved, 0n)
      check(`running of ${id} in ${process.id}`, account?.running, 0)
    }
  }
  for (const id of new Set([...answered, ...cut, ...usage.map((row) => row.requestId)])) {
    const rows = usage.filter(({ requestId }) => requestId === id)
    const own = rows.filter(({ errorCode }) => errorCode !== 'LM-6002')
    const sum = rows.reduce((total, { cost }) => total + cost, 0n)
    if (answered.has(id)) check(`rows of ${id}`, own.length, 1)
    if (own.length > 0) check(`cost of ${id}`, sum, costs.get(id))
    else check(`charges of ${id}`, rows.filter((row) => row.cost > 0n).length, 1)
  }
  const running = new Set(processes.map(({ id }) => id))
  for (const { log } of processes) {
    for (const { level, message, fields } of log.lines) {
      if (level === 'error') problems.push(`${message}: ${JSON.stringify(fields)}`)
    }
  }
  for (const name of listOnServer('KEYS', `{${prefix}}:*:by`)) {
    for (const process of listOnServer('HKEYS', name)) {
      if (process && !running.has(process)) problems.push(`the server remembers ${process}`)
    }
  }
  return problems
}
