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

/** Returns the number of requests and the US dollars that keys and groups still hold. */
export async function readHeld(gateway: ProvedGateway) {
  const lists = await Promise.all(
    ['keys', 'groups'].map(async (kind) => (await gateway.admin('GET', `/admin/${kind}`))[kind]),
  )
  // Both lists have accounts with these members.
  const accounts = lists.flat() as { in_flight: number; budget_reserved: number }[]
  const sum = (member: 'in_flight' | 'budget_reserved') =>
    accounts.reduce((total, account) => total + account[member], 0)
  return { requests: sum('in_flight'), dollars: sum('budget_reserved') }
}
