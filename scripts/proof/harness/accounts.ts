import type { ProvedGateway } from './gateway.ts'
import type { LoadKey } from './load.ts'

/** The keys of a load: most with a high cap, some with one that the load spends. */
export async function createKeys(gateway: ProvedGateway): Promise<readonly LoadKey[]> {
  const groups = [
    await gateway.admin('POST', '/admin/groups', { name: 'g1', budget_max: 1e6 }),
    await gateway.admin('POST', '/admin/groups', { name: 'g2', budget_max: smallCap }),
  ]
  const caps = [null, 1e6, 1e6, 1e6, smallCap, smallCap, null, 1e6]
  const keys: LoadKey[] = []
  for (const [at, cap] of caps.entries()) {
    const { id, key } = await gateway.admin('POST', '/admin/keys', {
      name: `k${at}`,
      budget_max: cap,
      group_id: at < 6 ? groups[0]?.['id'] : groups[1]?.['id'],
    })
    keys.push({ id: String(id), secret: String(key) })
  }
  return keys
}

/** In US dollars: some hundred requests. */
const smallCap = 5

/** Raises the small caps, so that the load can go on to spend them. */
export async function raiseCaps(gateway: ProvedGateway): Promise<void> {
  for (const { kind, id, budget_max: cap } of await listAccounts(gateway)) {
    if (cap === null || cap >= 1e6) continue
    await gateway.admin('PATCH', `/admin/${kind}/${id}`, { budget_max: cap + smallCap })
  }
}

/** Returns the spend of keys and groups that a gateway shows, in nano-dollars. */
export async function readAccounts(gateway: ProvedGateway) {
  const accounts = await listAccounts(gateway)
  return accounts.map(({ id, budget_spent: dollars }) => ({ id, nano: Math.round(dollars * 1e9) }))
}

/** Returns the number of requests and the US dollars that keys and groups still hold. */
export async function readHeld(gateway: ProvedGateway) {
  const accounts = await listAccounts(gateway)
  const sum = (member: 'in_flight' | 'budget_reserved') =>
    accounts.reduce((total, account) => total + account[member], 0)
  return { requests: sum('in_flight'), dollars: sum('budget_reserved') }
}

async function listAccounts(gateway: ProvedGateway): Promise<readonly ShownAccount[]> {
  const lists = await Promise.all(
    ['keys', 'groups'].map(async (kind) => {
      const { [kind]: accounts } = await gateway.admin('GET', `/admin/${kind}`)
      // Both lists have accounts with these members.
      return (accounts as ShownAccount[]).map((account) => ({ ...account, kind }))
    }),
  )
  return lists.flat()
}

interface ShownAccount {
  readonly kind: string
  readonly id: string
  readonly budget_max: number | null
  readonly budget_spent: number
  readonly budget_reserved: number
  readonly in_flight: number
}
