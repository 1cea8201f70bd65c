import { onTestFinished } from 'vitest'
import type { GatewayOptions } from '../../src/index.ts'
import { type TestGateway, testGateway } from './gateway.ts'
import {
  type Answer,
  type ClientKey,
  clientKey,
  masterKey,
  pricedProvider,
} from './keyed-gateway.ts'
import { MemoryStore } from './memory-store.ts'
import { SharedServer } from './shared-server.ts'

/** One of several gateways that share their state. */
export interface Member extends TestGateway {
  /** The text of its configuration. */
  readonly config: string
  /** Sends a request to the admin API with the master key. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>
  /** Creates a key. */
  key(): Promise<ClientKey>
}

export interface GroupOptions extends Partial<GatewayOptions> {
  readonly server?: SharedServer
}

/** Opens the next gateway of a group: each call is a process with a clock and an upstream of its own. */
export function gatewayGroup(
  config: string = pricedProvider,
  { server = new SharedServer(), ...options }: GroupOptions = {},
) {
  const store = new SharedDatabase()
  const open = async (): Promise<Member> => {
    const text = `${config}\n[shared]\nurl = "redis://a.test"\n[auth]\nenabled = true`
    const test = await testGateway(text, {
      env: { GATEWAY_MASTER_KEY: masterKey },
      openShared: server.open,
      openStore: async () => store,
      ...options,
    })
    onTestFinished(async () => {
      await test.gateway.close()
    })
    const admin: Member['admin'] = async (method, path, body) => {
      const response = await test.get(path, {
        method,
        headers: { authorization: `Bearer ${masterKey}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const { status, headers } = response
      return { status, headers, body: JSON.parse((await response.text()) || '{}') }
    }
    return {
      ...test,
      config: text,
      admin,
      async key() {
        const { body } = await admin('POST', '/admin/keys', { name: 'a key' })
        return clientKey(String(body['id']), String(body['key']))
      },
    }
  }
  return { server, store, open }
}

/** A database in memory that several processes open and close. */
class SharedDatabase extends MemoryStore {
  override async close(): Promise<void> {}
}
