import { describe, expect, test } from 'vitest'
import type { ImageFetchPort } from '../../src/index.ts'
import type { NewUsageRow } from '../../src/store/index.ts'
import { done, hello } from '../support/answers.ts'
import { series } from '../support/exposition.ts'
import { errorIn, pricedProvider, prompt, readSpend, used } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'
import { broken, json, LiveUpstream, silent } from '../support/scripted-upstream.ts'
import { StreamReader } from '../support/stream-client.ts'
import { usageRow } from '../support/usage.ts'

/** Adds settings before the providers. */
const withSettings = (text: string) => `${text}\n${pricedProvider}`
/** Adds settings to the model. */
const withModel = (text: string) => `${pricedProvider}\n${text}`
/** Adds settings to the provider. */
const withProvider = (text: string) => pricedProvider.replace('kind =', `${text}\nkind =`)

/** A network in which no host name resolves. */
const nowhere: ImageFetchPort = {
  resolve: async () => [],
  async fetch() {
    throw new Error('not reached: no address to fetch')
  },
}

const second = 1_000
const day = 86_400

describe('settings that a reload changes', () => {
  test('a reload changes prices', async () => {
    const gateway = await reloadingGateway()
    const { key, upstream, ask, change } = gateway
    const { id, ...client } = await key()
    upstream.always(used(100))
    await ask({ id, ...client }, prompt())
    await change(pricedProvider.replace('input = 1', 'input = 3'))
    await ask({ id, ...client }, prompt())
    expect(await readSpend(gateway, id)).toBe(0.0004)
  })

  test('a reload changes fallbacks, retries, and the threshold and cooldown of circuits', async () => {
    const other = '[[providers.models]]\nid = "n"'
    const { key, upstream, ask, change, clock } = await reloadingGateway(
      withSettings('[resilience]\nretry_max_attempts = 1'),
    )
    const client = await key()
    upstream.next(broken())
    await ask(client, prompt())
    expect(upstream.requests).toHaveLength(1)

    const resilience = '[resilience]\nretry_max_attempts = 2\ncircuit_failure_threshold = 3\n'
    const cooldown = 'circuit_cooldown_ms = 7000\n'
    await change(`${resilience}${cooldown}${withModel(`fallbacks = ["n"]\n${other}`)}`)
    upstream.next(broken(), broken(), used(9))
    const pending = ask(client, prompt())
    await clock.advance(0.5 * second)
    expect((await pending).headers.get('x-gateway-model-used')).toBe('n')
    expect(upstream.requests).toHaveLength(4)

    await change(`${resilience}${cooldown}${pricedProvider}`)
    const refused = errorIn(await ask(client, prompt()))
    expect(refused).toMatchObject({ code: 'LM-3020', retry_after: 7 })
  })

  test.each([
    [
      'server.first_token_timeout_ms',
      withSettings('[server]\nfirst_token_timeout_ms = 3000'),
      'LM-3011',
    ],
    [
      'resilience.total_timeout_ms',
      withSettings('[resilience]\ntotal_timeout_ms = 3000'),
      'LM-3013',
    ],
    [
      'a provider’s first_token_timeout_ms',
      withProvider('first_token_timeout_ms = 3000'),
      'LM-3011',
    ],
    ['a provider’s total_timeout_ms', withProvider('total_timeout_ms = 3000'), 'LM-3013'],
  ])('a reload changes %s', async (_, config, code) => {
    const { key, upstream, ask, change, clock } = await reloadingGateway()
    const client = await key()
    await change(config)
    upstream.next(silent())
    const pending = ask(client, prompt())
    await clock.advance(3 * second)
    expect(errorIn(await pending)).toMatchObject({ code })
  })

  test('a reload changes connect timeouts, each for its provider', async () => {
    const { key, upstream, ask, change } = await reloadingGateway()
    const client = await key()
    upstream.always(used(9))
    const timeouts = async () => {
      await ask(client, prompt())
      const { connectTimeout, dedicatedPool } = upstream.requests.at(-1) ?? {}
      return [connectTimeout, dedicatedPool]
    }
    expect(await timeouts()).toEqual([5000, false])
    await change(withSettings('[resilience]\nconnect_timeout_ms = 70'))
    expect(await timeouts()).toEqual([70, false])
    await change(withProvider('connect_timeout_ms = 80'))
    expect(await timeouts()).toEqual([80, true])
  })

  test('a reload changes server.body_limit, on both planes and for the host', async () => {
    const { key, ask, admin, change, gateway } = await reloadingGateway()
    const client = await key()
    await change(withSettings('[server]\nbody_limit = 100'))
    expect(errorIn(await ask(client, prompt(1_000)))).toMatchObject({ code: 'LM-1002' })
    const name = 'n'.repeat(200)
    expect(errorIn(await admin('POST', '/admin/keys', { name }))).toMatchObject({ code: 'LM-1002' })
    expect(gateway.settings.bodyLimit).toBe(100)
    await change(pricedProvider)
  })

  test('a reload changes server.sse_heartbeat_ms for streams that begin after it', async () => {
    const { key, upstream, get, change, clock } = await reloadingGateway()
    const { headers } = await key()
    await change(withSettings('[server]\nsse_heartbeat_ms = 2000'))
    const live = new LiveUpstream()
    upstream.next(live.responder)
    const body = JSON.stringify(prompt(8, { stream: true }))
    const pending = get('/v1/chat/completions', { method: 'POST', headers, body })
    await settled()
    live.push(hello)
    const reader = new StreamReader(await pending)
    expect(await reader.next()).toBe(hello)
    const next = reader.next()
    await clock.advance(2 * second)
    expect(await next).toBe(': ping\n')
    live.push(done)
    await reader.rest()
  })

  test('a reload changes tokenizer.mode', async () => {
    const counted: string[] = []
    const { key, upstream, ask, change } = await reloadingGateway(
      pricedProvider.replace('upstream-m', 'gpt-4o'),
      {
        tokenizer: {
          async count(encoding, texts) {
            counted.push(encoding)
            return texts.map(() => 1)
          },
        },
      },
    )
    const client = await key()
    upstream.always(used(-1))
    await ask(client, prompt())
    await settled()
    expect(counted).toEqual([])
    await change(withSettings('[tokenizer]\nmode = "accurate"').replace('upstream-m', 'gpt-4o'))
    await ask(client, prompt())
    await settled()
    expect(counted).not.toEqual([])
  })

  test('a reload changes image_fetch', async () => {
    const embeds = withModel('capabilities = ["embed"]\nmodalities = ["text", "image"]').replace(
      '"openai"',
      '"voyage"',
    )
    const { key, ask, change } = await reloadingGateway(embeds, { imageFetch: nowhere })
    const client = await key()
    const input = [[{ type: 'image_url', image_url: { url: 'https://i.test/a.png' } }]]
    const code = async () =>
      errorIn(await ask(client, { model: 'm', input }, '/v1/embeddings'))['code']
    const before = await code()
    await change(`[image_fetch]\nenabled = true\nallowed_hosts = ["other.test"]\n${embeds}`)
    expect([before, await code()]).toEqual(['LM-2005', 'LM-2006'])
  })

  test('a reload starts, changes and stops health checks at once', async () => {
    const own = withProvider('base_url = "https://one.test"')
    const checked = (interval: number, more = '') =>
      `[resilience]\nhealth_check_enabled = true\nhealth_check_interval_ms = ${interval}\n${own}${more}`
    const { get, change, clock } = await reloadingGateway(own, { upstream: json({}) })
    const health = async () => {
      await settled()
      const { providers } = await (await get('/health/providers')).json()
      return Object.values<Record<string, unknown>>(providers).map(
        ({ status, checked_at: at }) => `${status} ${Number(at) - 1_764_000_000}`,
      )
    }
    expect(await health()).toEqual([expect.stringContaining('unknown')])
    await change(checked(60_000))
    expect(await health()).toEqual(['up 0'])
    await clock.advance(10 * second)
    await change(checked(60_000))
    expect(await health()).toEqual(['up 0'])
    await change(checked(5_000))
    expect(await health()).toEqual(['up 10'])
    await clock.advance(5 * second)
    expect(await health()).toEqual(['up 15'])
    const other = '[[providers]]\nname = "q"\nkind = "vllm"\nbase_url = "https://two.test"\n'
    await clock.advance(1 * second)
    await change(checked(5_000, other))
    expect(await health()).toEqual(['up 16', 'up 16'])
    await change(own)
    expect(await health()).toEqual([expect.stringContaining('unknown')])
  })

  test('a reload changes auth.flush_interval_ms at once', async () => {
    const { key, upstream, ask, change, clock, store } = await reloadingGateway()
    const client = await key()
    upstream.next(used(9))
    await ask(client, prompt())
    await clock.advance(0.5 * second)
    expect(store.keys.get(client.id)?.budgetSpent).toBe(0n)
    // Before the flush of the usage row after two seconds, which includes the cost.
    await change(pricedProvider, 'flush_interval_ms = 1000')
    await clock.advance(1 * second)
    expect(store.keys.get(client.id)?.budgetSpent).toBe(9_000n)
  })

  test('a reload changes auth.retention_days at once', async () => {
    const { change, clock, store } = await reloadingGateway(pricedProvider, {
      auth: 'retention_days = 0',
    })
    const now = clock.now() / second
    const rows: readonly NewUsageRow[] = [1, 3, 8].map((age) => ({
      ...usageRow,
      ts: now - age * day,
    }))
    store.addRows(rows)
    await change(pricedProvider, 'retention_days = 7')
    await settled()
    expect(store.usage).toHaveLength(2)
    await change(pricedProvider, 'retention_days = 2')
    await settled()
    expect(store.usage).toHaveLength(1)
  })

  test('a reload changes auth.reserve_output_tokens', async () => {
    const { key, ask, change, upstream } = await reloadingGateway()
    const client = await key({ budget_max: 0.0001 })
    expect(errorIn(await ask(client, prompt()))).toMatchObject({ code: 'LM-4001' })
    await change(pricedProvider, 'reserve_output_tokens = 1')
    upstream.next(used(9))
    expect((await ask(client, prompt())).status).toBe(200)
  })
})

describe('settings that need a restart', () => {
  const changed = 'id = "changed"'
  const others = pricedProvider.replace('id = "m"', changed)

  test.each([
    ['log_format', `log_format = "json"\n${others}`],
    ['server.host', `[server]\nhost = "0.0.0.0"\n${others}`],
    ['server.port', `[server]\nport = 9999\n${others}`],
    ['auth.db_path', others, 'db_path = "other.db"'],
    ['auth.usage_channel_capacity', others, 'usage_channel_capacity = 1'],
    ['auth.usage_batch_max', others, 'usage_batch_max = 1'],
    ['auth.usage_flush_ms', others, 'usage_flush_ms = 1'],
    ['telemetry.metadata_labels', `[telemetry]\nmetadata_labels = ["team"]\n${others}`],
    ['telemetry.max_series', `[telemetry]\nmax_series = 1\n${others}`],
    ['telemetry.trace_sample_ratio', `[telemetry]\ntrace_sample_ratio = 0.5\n${others}`],
  ])(
    '%s needs a restart, and the log names it, while the rest of the file serves',
    async (setting, config, auth = '') => {
      const { change, takeLogLines, get, key, gateway, count } = await reloadingGateway()
      const { settings } = gateway
      const { headers } = await key()
      takeLogLines()
      await change(config, auth)
      expect(takeLogLines()).toEqual([
        `warn ignored until a restart ${setting}`,
        'info configuration reloaded',
      ])
      const { data } = await (await get('/v1/models', { headers })).json()
      expect(data).toMatchObject([{ id: 'changed' }])
      expect(gateway.settings).toEqual(settings)
      expect(await count('gateway_config_reload_failures_total')).toBe(0)
    },
  )

  test('turning auth.enabled off needs a restart: keys and the admin API stay', async () => {
    const { file, gateway, takeLogLines, get, admin } = await reloadingGateway()
    takeLogLines()
    file.write(pricedProvider)
    await gateway.reload()
    expect(takeLogLines()).toContain('warn ignored until a restart auth.enabled')
    expect((await get('/v1/models')).status).toBe(401)
    expect((await admin('GET', '/admin/config')).body['config']).toBe(pricedProvider)
  })

  test('auth.usage_flush_ms keeps its value until a restart', async () => {
    const { change, key, ask, upstream, clock, store } = await reloadingGateway()
    await change(pricedProvider, 'usage_flush_ms = 100')
    upstream.next(used(9))
    await ask(await key(), prompt())
    await clock.advance(1_900)
    expect(store.usage).toEqual([])
    await clock.advance(100)
    expect(store.usage).toHaveLength(1)
  })

  test('telemetry.metadata_labels keep their series until a restart', async () => {
    const labelled = '[telemetry]\nmetadata_labels = ["team"]\n'
    const { change, key, upstream, get } = await reloadingGateway(labelled + pricedProvider)
    await change(`[telemetry]\nmetadata_labels = ["user"]\n${pricedProvider}`)
    upstream.next(used(9))
    const { headers } = await key()
    await get('/v1/chat/completions', {
      method: 'POST',
      headers: { ...headers, 'x-gateway-metadata': '{"team":"a","user":"b"}' },
      body: JSON.stringify(prompt()),
    }).then((response) => response.text())
    const [tokens] = series(await (await get('/metrics')).text(), 'gateway_tokens_total')
    expect(tokens?.labels).toMatchObject({ team: 'a' })
    expect(tokens?.labels).not.toHaveProperty('user')
  })
})
