import { onTestFinished } from 'vitest'
import { nodePorts, serve } from '../../../adapters/node/index.ts'
import { openNodeStore } from '../../../adapters/node/ports/store.ts'
import { createGateway, type Gateway } from '../../../src/index.ts'

/** `GATEWAY_MASTER_KEY` of the tests. */
export const masterKey = '6d'.repeat(32)

/** A key as seen by its client. */
export interface HostedKey {
  readonly id: string
  readonly key: string
}

export interface HostAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The response as JSON, if it is JSON. */
  readonly body: Record<string, unknown>
}

/** A gateway with auth enabled, as seen by its clients and its operator. */
export interface KeyedHost {
  readonly address: string
  admin(method: string, path: string, body?: unknown): Promise<HostAnswer>
  key(fields?: object): Promise<HostedKey>
  chat(key: string, body?: object): Promise<HostAnswer>
}

export interface HostOptions {
  /** The database. */
  readonly path: string
  readonly config: string
  /** The module of the database thread. */
  readonly entry: URL
  readonly env?: Readonly<Record<string, string>>
  /** How long calls are retried while the database is locked, in milliseconds. */
  readonly timeout?: number
}

export interface ServedHost extends KeyedHost {
  readonly gateway: Gateway
  close(): Promise<void>
}

/** Serves a gateway over a real socket and a real database, in this process. */
export async function keyedHost({
  path,
  config,
  entry,
  env,
  timeout,
}: HostOptions): Promise<ServedHost> {
  const gateway = await createGateway({
    ...nodePorts({ GATEWAY_LOG_LEVEL: 'error' }),
    env: { GATEWAY_MASTER_KEY: masterKey, GATEWAY_AUTH__DB_PATH: path, ...env },
    config: `${config}\n[auth]\nenabled = true\nusage_flush_ms = 20\n`,
    openStore: (settings) => openNodeStore(settings, { entry, ...(timeout && { timeout }) }),
  })
  const host = await serve(gateway, { port: 0, shutdown: { drain: 100 } })
  onTestFinished(() => host.close())
  return { ...hostAt(host.address), gateway, close: () => host.close() }
}

/** Returns a client for the gateway at this address. */
export function hostAt(address: string): KeyedHost {
  const send = (method: string, path: string, token: string, body?: unknown) =>
    toAnswer(
      fetch(`${address}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
  return {
    address,
    admin: (method, path, body) => send(method, path, masterKey, body),
    async key(fields = {}) {
      const { status, body } = await send('POST', '/admin/keys', masterKey, {
        name: 'a key',
        ...fields,
      })
      if (status !== 201) throw new Error(`no key was created: ${JSON.stringify(body)}`)
      return { id: String(body['id']), key: String(body['key']) }
    },
    chat: (key, body = {}) =>
      send('POST', '/v1/chat/completions', key, {
        model: 'm',
        messages: [{ role: 'user', content: 'Hi' }],
        ...body,
      }),
  }
}

async function toAnswer(response: Promise<Response>): Promise<HostAnswer> {
  const { status, headers } = await response
  const text = await (await response).text()
  const isJson = headers.get('content-type') === 'application/json'
  return { status, headers, text, body: isJson ? JSON.parse(text) : {} }
}
