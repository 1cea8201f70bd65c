import { describe, expect, test } from 'vitest'
import { mintKey } from '../../src/auth/index.ts'
import type { KeyId } from '../../src/core/ids.ts'
import { chunk, done, hello, stop, usageChunk } from '../support/answers.ts'
import { series } from '../support/exposition.ts'
import { providerKey } from '../support/gateway.ts'
import {
  clientKey,
  errorIn,
  masterKey,
  pricedProvider,
  prompt,
  readSpend,
  used,
} from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { type ReloadingGateway, reloadingGateway, withAuth } from '../support/reloading-gateway.ts'
import { broken, json, LiveUpstream, type Responder } from '../support/scripted-upstream.ts'
import { StreamReader } from '../support/stream-client.ts'
import { unlimited } from '../support/unlimited.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const reloads = 'gateway_config_reloads_total'
const failures = 'gateway_config_reload_failures_total'

/** One provider with these models at this URL. */
function provider(
  models: string,
  { name = 'p', at = 'https://one.test/v1', more = '' } = {},
): string {
  return `
[[providers]]
name = "${name}"
kind = "openai"
base_url = "${at}"
${more}
${models}`
}

function model(id: string, more = ''): string {
  return `
[[providers.models]]
id = "${id}"
upstream_id = "upstream-${id}"
${more}`
}

const priced = 'cost_per_1m_input = 1\ncost_per_1m_output = 2'
const onceOnly = '[resilience]\nretry_max_attempts = 1\n'

/** A responder that waits until the test calls `release`. */
function heldBack(responder: Responder) {
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const held: Responder = async (request) => {
    await gate
    return responder(request)
  }
  return { held, release: () => release() }
}

async function readModelIds({ get }: ReloadingGateway, headers: HeadersInit): Promise<string[]> {
  const { data } = await (await get('/v1/models', { headers })).json()
  return data.map(({ id }: { id: string }) => id)
}

describe('a new configuration', () => {
  test('the next request gets the new configuration as a whole, and the log says so', async () => {
    const gateway = await reloadingGateway(provider(model('old')))
    const { ask, key, upstream, change, takeLogLines, count } = gateway
    const client = await key()
    upstream.always(used(9))
    await change(provider(model('new'), { at: 'https://two.test/v1' }))
    expect(takeLogLines()).toContain('info configuration reloaded')
    expect(await count(reloads)).toBe(1)
    expect(await readModelIds(gateway, client.headers)).toEqual(['new'])
    expect((await ask(client, prompt(8, { model: 'new' }))).status).toBe(200)
    expect(upstream.requests.map(({ url }) => url)).toEqual([
      'https://two.test/v1/chat/completions',
    ])
    expect(errorIn(await ask(client, prompt(8, { model: 'old' })))).toMatchObject({
      code: 'LM-2001',
    })
  })

  test('the environment overrides the new file', async () => {
    const { change, ask, key, upstream } = await reloadingGateway(provider(model('m')), {
      env: { GATEWAY_MASTER_KEY: masterKey, GATEWAY_RESILIENCE__RETRY_MAX_ATTEMPTS: '1' },
    })
    await change(`[resilience]\nretry_max_attempts = 5\n${provider(model('m'))}`)
    upstream.next(broken())
    expect((await ask(await key(), prompt())).status).toBe(502)
    expect(upstream.requests).toHaveLength(1)
  })

  test('a reload needs no auth, no database and no admin API', async () => {
    const { file } = await reloadingGateway(provider(model('old')))
    const { gateway, chat, upstream, get } = await watchedGateway(provider(model('old')), {
      configFile: file,
    })
    file.write(provider(model('new')))
    await gateway.reload()
    upstream.next(used(9))
    expect((await chat(prompt(8, { model: 'new' }))).status).toBe(200)
    expect((await get('/admin/config')).status).toBe(404)
  })

  test('a refresh does nothing when the file has not changed', async () => {
    const { gateway, file, count } = await reloadingGateway()
    await gateway.refresh()
    expect(await count(reloads)).toBe(0)
    file.write(`${file.text}\n# a word`)
    await gateway.refresh()
    await gateway.refresh()
    expect(await count(reloads)).toBe(1)
    await gateway.reload()
    expect(await count(reloads)).toBe(2)
  })

  test('an unchanged model keeps its creation time', async () => {
    const { clock, change, get, key } = await reloadingGateway(provider(model('a') + model('b')))
    const { headers } = await key()
    await clock.advance(5_000)
    await change(provider(model('a') + model('b', priced)))
    const { data } = await (await get('/v1/models', { headers })).json()
    expect(data.map(({ created }: { created: number }) => created)).toEqual([
      1_764_000_000, 1_764_000_005,
    ])
  })
})

describe('a request that runs during a reload', () => {
  test('a stream ends on the snapshot that it began with, and at its prices', async () => {
    const { key, upstream, get, change, rows, ask } = await reloadingGateway(
      provider(model('m', priced)),
    )
    const client = await key({ budget_max: 1 })
    const live = new LiveUpstream()
    upstream.next(live.responder)
    const { headers } = client
    const body = JSON.stringify(prompt(8, { stream: true }))
    const pending = get('/v1/chat/completions', { method: 'POST', headers, body })
    await settled()
    live.push(chunk({ role: 'assistant' }) + hello)
    const reader = new StreamReader(await pending)
    expect(await reader.next()).toContain('Hello')

    await change(provider(model('other', priced), { name: 'q', at: 'https://two.test/v1' }))
    expect(errorIn(await ask(client, prompt()))).toMatchObject({ code: 'LM-2001' })
    live.push(stop + usageChunk + done)
    live.end()
    expect(await reader.rest()).toMatch(/data: \[DONE\]\n\n$/)
    // 9 prompt tokens at 1 USD per million, 2 output tokens at 2 USD.
    expect(await rows()).toMatchObject([{ model: 'm', provider: 'p', cost: 13_000n, status: 200 }])
  })

  test('an unanswered request continues with the retries and fallbacks of the old configuration', async () => {
    const config = `[resilience]\nretry_max_attempts = 2\nretry_base_ms = 1000\n${provider(
      model('m', 'fallbacks = ["n"]'),
    )}${provider(model('n'), { name: 'q', at: 'https://two.test/v1' })}`
    const { key, upstream, ask, change, clock } = await reloadingGateway(config)
    const client = await key()
    upstream.next(broken(), broken(), used(9))
    const pending = ask(client, prompt())
    await settled()
    await change(`${onceOnly}${provider(model('m'), { at: 'https://three.test/v1' })}`)
    await clock.advance(2_000)
    const { status, headers } = await pending
    expect([status, headers.get('x-gateway-model-used')]).toEqual([200, 'n'])
    expect(upstream.requests.map(({ url }) => new URL(url).host)).toEqual([
      'one.test',
      'one.test',
      'two.test',
    ])
  })

  test('a request continues with the provider key that it began with', async () => {
    const config = provider(model('m', 'fallbacks = ["n"]') + model('n'))
    const { key, upstream, ask, admin } = await reloadingGateway(onceOnly + config)
    await admin('PUT', '/admin/provider-keys/p', { key: 'first' })
    const { held, release } = heldBack(json({ error: { message: 'busy' } }, { status: 503 }))
    upstream.next(held, used(9), used(9))
    const client = await key()
    const pending = ask(client, prompt())
    await settled()
    await admin('PUT', '/admin/provider-keys/p', { key: 'second' })
    release()
    expect((await pending).status).toBe(200)
    await ask(client, prompt(8, { model: 'n' }))
    expect(upstream.requests.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer first',
      'Bearer first',
      'Bearer second',
    ])
  })
})

describe('state that survives a reload', () => {
  test('open circuits survive with their remaining time, except for removed models', async () => {
    const resilience = '[resilience]\nretry_max_attempts = 1\ncircuit_failure_threshold = 1\n'
    const two = provider(model('m') + model('n'))
    const { key, upstream, ask, change, clock, get } = await reloadingGateway(resilience + two)
    const client = await key()
    upstream.next(broken(), broken())
    await ask(client, prompt())
    await ask(client, prompt(8, { model: 'n' }))
    await clock.advance(10_000)
    await change(resilience + provider(model('m', priced), { at: 'https://two.test/v1' }))
    const error = errorIn(await ask(client, prompt()))
    expect(error).toMatchObject({ code: 'LM-3020', retry_after: 20 })
    expect(upstream.requests).toHaveLength(2)
    expect(series(await (await get('/metrics')).text(), 'gateway_circuit_state')).toEqual([
      { labels: { provider: 'p', model: 'm' }, value: 1 },
    ])
  })

  test('the requests and tokens of the current minute survive', async () => {
    const { key, upstream, ask, change, clock } = await reloadingGateway()
    const [slow, small] = [await key({ rpm_limit: 1 }), await key({ tpm_limit: 20 })]
    upstream.always(used(15))
    await ask(slow, prompt())
    await ask(small, prompt(15))
    await change(`${pricedProvider}\n[tokenizer]\nmode = "heuristic"`)
    expect(errorIn(await ask(slow, prompt()))).toMatchObject({ code: 'LM-4002' })
    expect(errorIn(await ask(small, prompt(15)))).toMatchObject({ code: 'LM-4003' })
    await clock.advance(60_000)
    expect((await ask(slow, prompt())).status).toBe(200)
    expect((await ask(small, prompt(15))).status).toBe(200)
  })

  test('unsaved spend and reservations survive', async () => {
    const gateway = await reloadingGateway()
    const { key, group, upstream, ask, change, store } = gateway
    const pool = await group({ budget_max: 0.0001 })
    const client = await key({ budget_max: 0.0001, group_id: pool })
    upstream.next(used(40))
    expect((await ask(client, prompt(8, { max_tokens: 1 }))).status).toBe(200)
    const { held, release } = heldBack(used(9))
    upstream.next(held)
    const running = ask(client, prompt(8, { max_tokens: 1 }))
    await settled()
    expect(store.keys.get(client.id)?.budgetSpent).toBe(0n)

    await change(`${pricedProvider}\n[tokenizer]\nmode = "heuristic"`)
    expect(await readSpend(gateway, client.id)).toBe(0.00004)
    expect(await readSpend(gateway, pool, 'groups')).toBe(0.00004)
    const error = errorIn(await ask(client, prompt(60, { max_tokens: 1 })))
    expect(error).toMatchObject({ code: 'LM-4001', budget_spent: 0.00004, reserved: 0.00001 })
    release()
    expect((await running).status).toBe(200)
    expect(await readSpend(gateway, client.id)).toBe(0.000049)
  })

  test('the health of providers survives', async () => {
    const probed = '[resilience]\nhealth_check_enabled = true\n'
    const { change, get, clock } = await reloadingGateway(probed + provider(model('m')), {
      upstream: json({}),
    })
    await clock.advance(1_000)
    const known = await (await get('/health/providers')).json()
    expect(known.providers.p).toMatchObject({ status: 'up', checked_at: 1_764_000_000 })
    await change(probed + provider(model('m', priced)))
    expect(await (await get('/health/providers')).json()).toEqual(known)
  })
})

describe('keys created offline', () => {
  test('a key created offline is valid from the next reload on', async () => {
    const gateway = await reloadingGateway()
    const { store, upstream, ask, change } = gateway
    const { plaintext, digest } = mintKey()
    const id = 'a'.repeat(32) as KeyId
    await store.createKey({
      id,
      digest,
      name: 'offline',
      groupId: null,
      ...unlimited,
      expiresAt: null,
      disabled: false,
      createdAt: 1_764_000_000,
    })
    const client = clientKey(id, plaintext)
    expect((await ask(client, prompt())).status).toBe(401)
    await change(pricedProvider)
    upstream.next(used(9))
    expect((await ask(client, prompt())).status).toBe(200)
    expect(await readSpend(gateway, id)).toBe(0.000009)
  })
})

describe('an invalid configuration', () => {
  const signed = '[webhooks]\nurl = "https://hooks.test"\nsigning_key_env = "NO_SUCH"'
  test.each([
    ['text that is not TOML', 'providers = [', /refused: gateway.toml, line 2, column 2: not TOML/],
    ['an unknown setting', `${pricedProvider}\n[server]\nprot = 1`, /server\.prot.*"port"/],
    ['an unknown kind', provider(model('m')).replace('"openai"', '"opnai"'), /kind.*"openai"/],
    ['an unknown fallback', provider(model('m', 'fallbacks = ["x"]')), /fallbacks\[0\]/],
    ['a value out of range', `${pricedProvider}\n[server]\nport = 0`, /server\.port/],
    ['a missing signing key', `${pricedProvider}\n${signed}`, /signing_key_env.*NO_SUCH/],
  ])(
    'an invalid configuration changes nothing, and the log says why: %s',
    async (_, config, why) => {
      const { change, takeLogLines, count, ask, key, upstream } = await reloadingGateway()
      const client = await key()
      takeLogLines()
      await change(config)
      expect(takeLogLines()).toEqual([expect.stringMatching(why)])
      expect([await count(failures), await count(reloads)]).toEqual([1, 0])
      upstream.next(used(9))
      expect((await ask(client, prompt())).status).toBe(200)
    },
  )

  test.each([
    ['is empty', new Uint8Array(0)],
    ['is empty', new TextEncoder().encode(' \n')],
    ['is not valid UTF-8', Uint8Array.of(0x23, 0xff, 0x0a)],
  ])('a configuration is refused because the file %s', async (problem, bytes) => {
    const { gateway, file, takeLogLines, count } = await reloadingGateway()
    takeLogLines()
    file.bytes = bytes
    await gateway.reload()
    const line = `error the configuration is refused: the configuration file: ${problem}`
    expect(takeLogLines()).toEqual([line])
    expect(await count(failures)).toBe(1)
  })

  test('an unreadable file is refused, and its path stays out of the log', async () => {
    const { gateway, file, takeLogLines, count } = await reloadingGateway()
    takeLogLines()
    file.isReadable = false
    await gateway.reload()
    await gateway.refresh()
    expect(takeLogLines()).toEqual([
      'error the configuration is refused: the configuration file: cannot be read (EIO)',
    ])
    expect(await count(failures)).toBe(1)
  })

  test('a reload that fails because the database is unavailable is repeated at the next reload', async () => {
    const { gateway, file, store, takeLogLines, count, ask, key, upstream } =
      await reloadingGateway()
    const client = await key()
    file.write(withAuth(provider(model('new'))))
    takeLogLines()
    store.trouble = 'refuse'
    await gateway.reload()
    expect(takeLogLines()).toEqual([
      expect.stringContaining('the configuration cannot be reloaded'),
    ])
    upstream.next(used(9))
    expect((await ask(client, prompt())).status).toBe(200)
    store.trouble = 'none'
    await gateway.refresh()
    upstream.next(used(9))
    expect((await ask(client, prompt(8, { model: 'new' }))).status).toBe(200)
    expect([await count(failures), await count(reloads)]).toEqual([1, 1])
  })

  test('a refusal is reported once for each version of the file and once for each SIGHUP', async () => {
    const { gateway, file, count } = await reloadingGateway()
    file.write('providers = [')
    for (let looks = 0; looks < 3; looks++) await gateway.refresh()
    expect(await count(failures)).toBe(1)
    await gateway.reload()
    expect(await count(failures)).toBe(2)
    file.write('providers = [ ')
    await gateway.refresh()
    expect(await count(failures)).toBe(3)
  })

  test('a refusal shows no secret', async () => {
    const { change, log } = await reloadingGateway(pricedProvider)
    await change(`${pricedProvider}\nbase_url = "https://user:hunter2@host"\nkey = "hunter2"`)
    expect(JSON.stringify(log)).not.toContain('hunter2')
    expect(JSON.stringify(log)).not.toContain(providerKey)
  })
})
