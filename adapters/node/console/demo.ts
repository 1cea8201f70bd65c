import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway, type Gateway, type Log, type OpenStore } from '../../../src/index.ts'
import type { RunningGateway } from '../admin/client.ts'
import { readDemoText } from '../config/config-text.ts'
import { createPorts, openGateway } from '../host/open-gateway.ts'
import { serve } from '../host/serve.ts'
import { DemoClock } from './demo-clock.ts'
import { addDemoHistory } from './demo-history.ts'
import { type DemoKeys, pastMinutes, playPast, startTraffic } from './demo-traffic.ts'

/** A demo gateway in this process. */
export interface DemoGateway extends RunningGateway {
  /** Ends the requests and the gateway, and removes its database. */
  close(): Promise<void>
}

/**
 * Starts the demo configuration with auth on, keys with budgets, past usage, an hour of requests, and a request now and
 * then.
 */
export async function startDemo(): Promise<DemoGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-demo-'))
  const masterKey = randomBytes(32).toString('hex')
  const env = { GATEWAY_MASTER_KEY: masterKey, GATEWAY_AUTH__DB_PATH: join(folder, 'gateway.db') }
  const ports = createPorts(env)
  const config = describeDemo(await readDemoText())
  const clock = new DemoClock(Date.now() - pastMinutes * 60_000)
  const openStore: OpenStore = async (settings) => {
    const store = await ports.openStore(settings)
    await addDemoHistory(store, Math.floor(clock.now() / 1000))
    return store
  }
  const options = { ...ports, clock, openStore, env, config, log: () => silent }
  const gateway = await openGateway(createGateway(options))
  const keys = await createKeys(gateway, masterKey)
  await playPast(gateway, { clock, keys })
  clock.goLive()
  const serving = await serve(gateway, { host: '127.0.0.1', port: 0 })
  const stopTraffic = startTraffic(gateway, keys)
  return {
    address: serving.address,
    masterKey,
    async close() {
      stopTraffic()
      await serving.close()
      await ports.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** The demo configuration with auth on, and with providers as slow as fast ones are. */
function describeDemo(text: string): string {
  const slowed = text.replaceAll('kind = "demo"', 'kind = "demo"\nlatency_ms = 150')
  return `${slowed}\n[auth]\nenabled = true\n`
}

/** The log of the demo would only hide the link. */
const silent: Log = { enabled: () => false, write() {} }

/** Budgets that last for the day, but for that of the trial. */
async function createKeys(gateway: Gateway, masterKey: string): Promise<DemoKeys> {
  const create = async (path: string, body: object) => {
    const request = new Request(`http://demo.invalid/admin/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${masterKey}` },
      body: JSON.stringify(body),
    })
    // The answer of the admin API to a creation.
    return (await (await gateway.fetch(request)).json()) as { id: string; key: string }
  }
  const limits = { budget_max: 30, budget_period: 'week' }
  const { id } = await create('groups', { name: 'platform', ...limits })
  const createKey = async (body: object) => (await create('keys', body)).key
  return {
    search: await createKey({
      name: 'search service',
      group_id: id,
      budget_max: 4,
      budget_period: 'day',
    }),
    batch: await createKey({ name: 'nightly batch', group_id: id, budget_max: 3, rpm_limit: 600 }),
    trial: await createKey({ name: 'trial', budget_max: 0.0015, models: ['demo*'] }),
  }
}
