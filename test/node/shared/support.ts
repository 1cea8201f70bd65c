import { expect, onTestFinished } from 'vitest'
import { openNodeSharedState } from '../../../adapters/node/ports/shared-state.ts'
import type { GatewayOptions, Store } from '../../../src/index.ts'
import { providerKey, type TestGateway, testGateway } from '../../support/gateway.ts'
import {
  type Answer,
  type ClientKey,
  clientKey,
  masterKey,
  pricedProvider,
} from '../../support/keyed-gateway.ts'
import { settled } from '../../support/manual-clock.ts'
import { MemoryStore } from '../../support/memory-store.ts'
import type { RedisServer } from '../../support/redis.ts'
import { MemoryFile } from '../../support/reloading-gateway.ts'

export interface SharingOptions {
  /** Further settings of `[shared]`. */
  readonly settings?: string
  /** Further tables. */
  readonly config?: string
  readonly options?: Partial<GatewayOptions>
}

/** One of several gateways that share their state. */
export interface SharingGateway extends TestGateway {
  admin(method: string, path: string, body?: unknown): Promise<Answer['body']>
  /** Sends a request to the data plane with a key. */
  ask(key: ClientKey, body: object): Promise<Answer>
  /** Applies other further tables. */
  change(config: string): Promise<void>
  /** Ends it without a word, as `kill -9` does: its timers never fire again. */
  kill(): void
}

/** Gateways of one database that share their state on a server. */
export class SharingGateways {
  readonly store = new MemoryStore()
  readonly prefix = `test${prefixes++}`
  readonly redis: RedisServer
  readonly all: SharingGateway[] = []
  readonly #sharing: SharingOptions

  constructor(redis: RedisServer, sharing: SharingOptions = {}) {
    this.redis = redis
    this.#sharing = sharing
    this.beLong()
    onTestFinished(async () => {
      await expectToBalance(this)
      for (const { gateway } of this.all) await gateway.close()
    })
  }

  /** Lets the server have had its data for long, so that nothing waits for other processes. */
  beLong(): void {
    this.redis.command('SET', `{${this.prefix}}:epoch`, 'first|0')
  }

  /** Opens one more. */
  async open(): Promise<SharingGateway> {
    const { settings = '', config = '', options } = this.#sharing
    const shared = `[shared]\nurl = "${this.redis.url}"\nprefix = "${this.prefix}"\n${settings}`
    const withTables = (tables: string) =>
      `${pricedProvider}\n[auth]\nenabled = true\n${shared}\n${tables}`
    const file = new MemoryFile(withTables(config))
    const test = await testGateway(file.text, {
      env: { P_KEY: providerKey, GATEWAY_MASTER_KEY: masterKey },
      configFile: file,
      openStore: async () => withoutClose(this.store),
      openShared: openNodeSharedState,
      ...options,
    })
    const send = async (path: string, init: RequestInit): Promise<Answer> => {
      const { status, headers, ...response } = await toAnswer(await test.get(path, init))
      return { status, headers, ...response }
    }
    const gateway: SharingGateway = {
      ...test,
      async admin(method, path, body) {
        const headers = { authorization: `Bearer ${masterKey}` }
        const text = body === undefined ? {} : { body: JSON.stringify(body) }
        return (await send(path, { method, headers, ...text })).body
      },
      ask: ({ headers }, body) =>
        send('/v1/chat/completions', { method: 'POST', headers, body: JSON.stringify(body) }),
      async change(tables) {
        file.write(withTables(tables))
        await test.gateway.reload()
      },
      kill: () => {
        this.all.splice(this.all.indexOf(gateway), 1)
      },
    }
    this.all.push(gateway)
    return gateway
  }

  /** Creates a key that all gateways know. */
  async key(fields: object = {}): Promise<ClientKey> {
    const [first] = this.all
    const created = await first?.admin('POST', '/admin/keys', { name: 'a key', ...fields })
    await this.reload()
    return clientKey(String(created?.['id']), String(created?.['key']))
  }

  async group(fields: object = {}): Promise<string> {
    const [first] = this.all
    const created = await first?.admin('POST', '/admin/groups', { name: 'a group', ...fields })
    await this.reload()
    return String(created?.['id'])
  }

  async reload(): Promise<void> {
    for (const { gateway } of this.all) await gateway.reload()
  }

  /** Returns what each gateway shows of a key or a group. */
  readonly show = (id: string, kind: 'keys' | 'groups' = 'keys'): Promise<Answer['body'][]> =>
    Promise.all(this.all.map(({ admin }) => admin('GET', `/admin/${kind}/${id}`)))
}

/** Writes all rows, and checks that rows, saved spend and shared spend agree. */
export async function expectToBalance({ all, store, show }: SharingGateways): Promise<void> {
  for (const { clock } of all) await clock.advance(20_000)
  await settled()
  for (const row of [...store.keys.values(), ...store.groups.values()]) {
    const own = store.usage.filter(({ keyId, groupId }) => row.id === keyId || row.id === groupId)
    const sum = own.reduce((total, { cost }) => total + cost, 0n)
    expect(row.spentTotal, `saved spend of ${row.id}, and its rows`).toBe(sum)
    const kind = store.keys.has(row.id) ? 'keys' : 'groups'
    const readSpends = async () => (await show(row.id, kind)).map((shown) => shown['spent_total'])
    // The server gets the ends of requests without places a moment later.
    await expect
      .poll(readSpends, { message: `shared spend of ${row.id}` })
      .toEqual(all.map(() => Number(sum) / 1e9))
  }
}

let prefixes = 0

/** The database outlives each of its gateways. */
function withoutClose(store: MemoryStore): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'close') return async () => {}
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

async function toAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response
  return { status, headers, body: JSON.parse((await response.text()) || '{}') }
}
