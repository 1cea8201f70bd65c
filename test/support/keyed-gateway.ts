import type { GatewayOptions } from '../../src/index.ts'
import type { UsageRow } from '../../src/store/index.ts'
import { providerKey, type TestGateway } from './gateway.ts'
import { MemoryStore } from './memory-store.ts'
import { json, type Responder } from './scripted-upstream.ts'
import { watchedGateway } from './watched-gateway.ts'

/** `GATEWAY_MASTER_KEY` of the tests. */
export const masterKey = '5e'.repeat(32)

/** A key as seen by its client. */
export interface ClientKey {
  readonly id: string
  readonly secret: string
  /** The header with the key. */
  readonly headers: { readonly authorization: string }
}

/** The response of a route. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

export interface KeyedGateway extends TestGateway {
  readonly store: MemoryStore
  /** Sends a request to the admin API with the master key. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>
  /** Creates a key with these fields. */
  key(fields?: object): Promise<ClientKey>
  /** Creates a group, and resolves with its id. */
  group(fields?: object): Promise<string>
  /** Sends a request to the data plane with a key. */
  ask(key: ClientKey, body: object, path?: string): Promise<Answer>
  /** Resolves to the rows of the usage log after all are written. */
  rows(): Promise<readonly UsageRow[]>
}

export interface KeyedOptions extends Partial<GatewayOptions> {
  readonly store?: MemoryStore
  /** Further settings of `[auth]`. */
  readonly auth?: string
}

/**
 * One provider with model `m`: 1 USD per million prompt tokens, 2 USD per million others. So a token of
 * a prompt costs 1,000 nano-dollars, or 0.000001 USD.
 */
export const pricedProvider = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
upstream_id = "upstream-m"
cost_per_1m_input = 1
cost_per_1m_output = 2
`

/** A watched gateway with auth enabled and a database in memory. */
export async function keyedGateway(
  config: string = pricedProvider,
  { store = new MemoryStore(), auth = '', ...options }: KeyedOptions = {},
): Promise<KeyedGateway> {
  const test = await watchedGateway(`${config}\n[auth]\nenabled = true\n${auth}`, {
    env: { P_KEY: providerKey, GATEWAY_MASTER_KEY: masterKey },
    ...options,
    store,
  })
  const admin: KeyedGateway['admin'] = async (method, path, body) =>
    toAnswer(
      await test.get(path, {
        method,
        headers: { authorization: `Bearer ${masterKey}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
  return {
    ...test,
    store,
    admin,
    async key(fields = {}) {
      const { status, body } = await admin('POST', '/admin/keys', { name: 'a key', ...fields })
      if (status !== 201) throw new Error(`no key was created: ${JSON.stringify(body)}`)
      return clientKey(String(body['id']), String(body['key']))
    },
    async group(fields = {}) {
      const { status, body } = await admin('POST', '/admin/groups', { name: 'a group', ...fields })
      if (status !== 201) throw new Error(`no group was created: ${JSON.stringify(body)}`)
      return String(body['id'])
    },
    ask: async ({ headers }, body, path = '/v1/chat/completions') =>
      toAnswer(await test.get(path, { method: 'POST', headers, body: JSON.stringify(body) })),
    async rows() {
      await test.clock.advance(2_000)
      return store.usage
    },
  }
}

export function clientKey(id: string, secret: string): ClientKey {
  return { id, secret, headers: { authorization: `Bearer ${secret}` } }
}

/** A chat request for model `m` with an estimate of this many prompt tokens, at least 8. */
export function prompt(tokens = 8, more: object = {}): object {
  return {
    model: 'm',
    messages: [{ role: 'user', content: 'x'.repeat((tokens - 7) * 4) }],
    ...more,
  }
}

/** A chat response that reports these token counts; its content is empty without output tokens. */
export function used(promptTokens: number, completionTokens = 0, details: object = {}): Responder {
  return json({
    id: 'chatcmpl-a1',
    object: 'chat.completion',
    created: 1_764_000_000,
    model: 'upstream-m',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: completionTokens > 0 ? 'Hi' : '' },
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
      ...details,
    },
  })
}

/** Returns the spend of a key or a group as the admin API shows it. */
export async function readSpend(
  { admin }: KeyedGateway,
  id: string,
  kind: 'keys' | 'groups' = 'keys',
): Promise<number> {
  return Number((await admin('GET', `/admin/${kind}/${id}`)).body['budget_spent'])
}

/** Returns the error object of a response. */
export function errorIn({ body }: Answer): Record<string, unknown> {
  return body['error'] as Record<string, unknown>
}

async function toAnswer(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type') === 'application/json'
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : { text },
  }
}
