import { describe, expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { makeChain } from '../support/chain.ts'
import { providerKey } from '../support/gateway.ts'
import {
  type KeyedGateway,
  keyedGateway,
  masterKey,
  pricedProvider,
  prompt,
  used,
} from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { broken, json, whole } from '../support/scripted-upstream.ts'

const path = '/v1/chat/completions'

/** A port that must not be used. */
const unreachable = async (): Promise<never> => {
  throw new Error('nothing may be fetched')
}

/** Explains a chat request with the master key. */
async function explain(gateway: KeyedGateway, body: unknown, more: object = {}) {
  const answer = await gateway.admin('POST', '/admin/explain', { path, body, ...more })
  expect(answer.status).toBe(200)
  return answer.body
}

interface Shown {
  readonly price: string | null
  readonly reservation: number | null
  readonly lines: readonly {
    readonly name: string
    readonly count: number
    readonly price: number
    readonly per: number
    readonly cost: number
    readonly price_entries: string | null
    readonly bounded: boolean
  }[]
  readonly unpriced: { readonly missing: string; readonly setting: string } | null
}

describe('an explanation', () => {
  test('has the route, its links, the estimate, the reservation and the verdict', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1 })
    const body = prompt(100, { max_tokens: 50 })
    expect(await explain(gateway, body, { key_id: key.id })).toEqual({
      route: { id: 'm', switches: [], order: ['m'] },
      links: [
        {
          model: 'm',
          pattern: null,
          provider: 'p',
          credential: 'present',
          credential_detail: 'present',
          circuit: 'closed',
          rooms: [],
          pinned: false,
          pinned_credential: null,
          dropped: [],
          cache_marks: null,
          profile: 'openai (kind)',
          prompt_price: 'cost_per_1m_input',
          tools: [],
          price: null,
          reservation: 0.0002,
          lines: [
            {
              name: 'input',
              count: 100,
              price: 1,
              per: 1_000_000,
              cost: 0.0001,
              price_entries: null,
              bounded: true,
            },
            {
              name: 'output',
              count: 50,
              price: 2,
              per: 1_000_000,
              cost: 0.0001,
              price_entries: null,
              bounded: true,
            },
          ],
          unpriced: null,
          error: null,
          upstream: {
            url: 'https://api.openai.com/v1/chat/completions',
            body: { ...body, model: 'upstream-m' },
          },
        },
      ],
      estimate: { prompt_tokens: 100, output_tokens: 50 },
      reservation: 0.0002,
      admission: { verdict: 'admitted', code: null, scope: null },
      error: null,
    })
    expect(gateway.upstream.requests).toEqual([])
  })

  describe('shows what is reserved on each link', () => {
    const entry = (text: string) => `[[providers.models.prices]]\n${text}\n`

    /** Explains a request on its only link: the amount, and each line in short. */
    async function explainLines(config: string, body: object, at = path) {
      const gateway = await keyedGateway(config)
      const [link] = (await explain(gateway, body, { path: at }))['links'] as Shown[]
      if (!link) throw new Error('there is no link')
      const lines = link.lines.map(({ name, count, price, per, price_entries, bounded }) =>
        [
          `${name} ${count} x ${price}/${per}`,
          ...(price_entries === null ? [] : [price_entries]),
          ...(bounded ? [] : ['not bounded']),
        ].join(', '),
      )
      const sum = link.lines.reduce((total, { cost }) => total + cost, 0)
      expect(sum).toBeCloseTo(Number(link.reservation), 9)
      return [link.reservation, ...lines]
    }

    test('with the entry that makes each line dearest', async () => {
      const config =
        pricedProvider +
        entry('above_input = 100\ncost_per_1m_input = 4') +
        entry('tier = "flex"\ncost_per_1m_output = 9') +
        entry('hours = ["16:05-17:00"]\nmultiply = 2')
      const body = prompt(100, { max_tokens: 50, n: 2, service_tier: 'flex' })
      expect(await explainLines(config, body)).toEqual([
        0.0026,
        'input 100 x 8/1000000, above 100, flex, 16:05-17:00 x2',
        'output 100 x 18/1000000, flex, 16:05-17:00 x2',
      ])
    })

    test('with the region, and the factor of the provider in its prices', async () => {
      const config = pricedProvider
        .replace('kind = "openai"', 'kind = "anthropic"\nprice_multiplier = 3')
        .concat(entry('geo = "us"\nmultiply = 1.1'))
      const body = prompt(100, { max_tokens: 50, inference_geo: 'us' })
      expect(await explainLines(config, body, '/v1/messages')).toEqual([
        0.00066,
        'input 100 x 3.3/1000000, geo us x1.1',
        'output 50 x 6.6/1000000, geo us x1.1',
      ])
    })

    test('at the dearest kind of a token, with fees', async () => {
      const config = `${pricedProvider.replace('kind = "openai"', 'kind = "anthropic"')}
        cost_per_1m_cache_write_1h = 3
        cost_per_1m_reasoning = 5
        cost_per_1k_requests = 1
        tool_costs_per_1k = { web_search = 10, web_fetch = 2 }
      `
      const cache_control = { type: 'ephemeral', ttl: '1h' }
      const body = {
        model: 'm',
        max_tokens: 50,
        system: [{ type: 'text', text: 'x'.repeat(400), cache_control }],
        messages: [{ role: 'user', content: 'Hi' }],
        tools: [
          { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
          { type: 'web_fetch_20250910', name: 'web_fetch' },
        ],
      }
      const [amount, prompted, ...lines] = await explainLines(config, body, '/v1/messages')
      expect(amount).toBeGreaterThan(0.029)
      expect(prompted).toMatch(/^written_1h \d+ x 3\/1000000$/)
      expect(lines).toEqual([
        'reasoning 50 x 5/1000000',
        'web_search 2 x 10/1000',
        'web_fetch 4 x 2/1000, not bounded',
        'requests 1 x 1/1000',
      ])
    })

    test('as the lines of a cost are that reaches all of it', async () => {
      const config =
        `${pricedProvider}tool_costs_per_1k = { web_search = 10 }\nreserve_tool_calls = 2\n` +
        entry('above_input = 50\ncost_per_1m_input = 4') +
        entry('tier = "priority"\nmultiply = 2')
      const gateway = await keyedGateway(config)
      const key = await gateway.key({ budget_max: 1 })
      const body = prompt(100, {
        max_tokens: 50,
        service_tier: 'priority',
        modalities: ['text'],
        web_search_options: {},
      })
      const [link] = (await explain(gateway, body))['links'] as Shown[]
      gateway.upstream.next(
        used(100, 50, { server_side_tool_usage_details: { web_search_calls: 2 } }),
      )
      const { headers } = await gateway.ask(key, body)
      await gateway.rows()
      const id = headers.get('x-request-id')
      const { rows } = (await gateway.admin('GET', `/admin/usage/rows/${id}`)).body as unknown as {
        rows: { lines: object[]; cost: number; price: string; reserved: number }[]
      }
      const lines = link?.lines.map(({ name, count, price, per, cost }) => ({
        name,
        count,
        price,
        per,
        cost,
      }))
      expect(rows[0]?.lines).toEqual(lines)
      expect(rows[0]).toMatchObject({
        cost: link?.reservation,
        reserved: link?.reservation,
        price: link?.price,
      })
    })

    test.each<[string, string, object, string, string | null]>([
      ['has its price', pricedProvider, prompt(), path, null],
      [
        'has no price for output',
        pricedProvider.replace('cost_per_1m_output = 2', ''),
        prompt(),
        path,
        'cost_per_1m_output',
      ],
      [
        'names other tiers',
        pricedProvider + entry('tier = "flex"\nmultiply = 0.5'),
        prompt(8, { service_tier: 'priority' }),
        path,
        'prices with tier = "priority"',
      ],
      [
        'has no price of a tool',
        pricedProvider,
        prompt(8, { web_search_options: {} }),
        path,
        'tool_costs_per_1k.web_search',
      ],
      [
        'does not bound a stored prompt',
        pricedProvider,
        { model: 'm', input: 'Hi', previous_response_id: 'resp_1' },
        '/v1/responses',
        'max_input_tokens',
      ],
    ])('and the setting that is missing where it %s', async (_, config, body, at, setting) => {
      const gateway = await keyedGateway(config)
      const { links, admission } = await explain(gateway, body, { path: at })
      expect((links as Shown[])[0]?.unpriced?.setting ?? null).toBe(setting)
      expect(admission).toMatchObject({ verdict: 'admitted' })
    })
  })

  test('shows the body byte for byte, with the model of the upstream', async () => {
    const gateway = await keyedGateway()
    const sent =
      '{"temperature":1.0,"seed":12345678901234567890, "messages":[{"role":"user","content":"Hi"}],"model":"m" }'
    const answer = await gateway.get('/admin/explain', {
      method: 'POST',
      headers: { authorization: `Bearer ${masterKey}` },
      body: `{"body": ${sent}, "path":"${path}"}`,
    })
    expect(await answer.text()).toContain(`"body":${sent.replace('"m"', '"upstream-m"')}}`)
  })

  test('shows what each link drops, and why a link cannot send the request', async () => {
    const gateway = await keyedGateway(
      makeChain([{ kind: 'anthropic' }, { kind: 'cohere', settings: 'strict = true' }, {}]),
    )
    const { links, error } = await explain(gateway, prompt(8, { logit_bias: { 1: 2 } }))
    expect(links).toMatchObject([
      { dropped: ['logit_bias'], error: null, upstream: { url: 'https://p.test/v1/messages' } },
      {
        dropped: ['logit_bias'],
        error: { code: 'LM-1001', param: 'logit_bias' },
        upstream: null,
      },
      { dropped: [], error: null },
    ])
    expect(error).toBeNull()
  })

  test('masks credentials in the address', async () => {
    const gateway = await keyedGateway(
      pricedProvider.replace(
        'kind = "openai"',
        `kind = "openai"\nbase_url = "https://p.test/${providerKey}?key=abc"`,
      ),
    )
    const { links } = await explain(gateway, prompt())
    expect(JSON.stringify(links)).toContain('https://p.test/***/chat/completions?key=***')
  })

  test('shows no body over 1 MiB, but the address', async () => {
    const gateway = await keyedGateway()
    const { links } = await explain(gateway, prompt(300_000))
    expect(links).toMatchObject([{ upstream: { url: expect.any(String), body: null } }])
  })

  test('names a missing credential, and an open circuit', async () => {
    const gateway = await keyedGateway(
      makeChain(
        [{}, { keyVariable: 'UNSET' }],
        'circuit_failure_threshold = 1\nretry_max_attempts = 1',
      ),
    )
    const key = await gateway.key()
    gateway.upstream.next(broken())
    await gateway.ask(key, prompt())
    expect((await explain(gateway, prompt()))['links']).toMatchObject([
      { credential: 'present', credential_detail: 'present', circuit: 'open' },
      { credential: 'missing', credential_detail: 'UNSET is unset', circuit: 'closed' },
    ])
    await gateway.clock.advance(60_000)
    expect((await explain(gateway, prompt()))['links']).toMatchObject([
      { circuit: 'half-open' },
      {},
    ])
    // The probe of the circuit is still free.
    gateway.upstream.next(json(completion()))
    expect((await gateway.ask(key, prompt())).status).toBe(200)
  })

  test('of a request that is refused before its route is known has the error alone', async () => {
    const gateway = await keyedGateway()
    const answer = await explain(gateway, prompt(8, { model: 'mm' }))
    expect(answer).toMatchObject({
      route: null,
      links: [],
      estimate: null,
      reservation: null,
      admission: { verdict: 'refused', code: 'LM-2001', scope: null },
      error: { code: 'LM-2001', param: 'model', type: 'invalid_request' },
    })
  })

  test('names the limit that refuses, and its scope', async () => {
    const gateway = await keyedGateway()
    const group = await gateway.group({ budget_max: 0.000001 })
    const key = await gateway.key({ group_id: group, budget_max: 1 })
    const answer = await explain(gateway, prompt(), { key_id: key.id })
    expect(answer).toMatchObject({
      admission: { verdict: 'refused', code: 'LM-4001', scope: 'group' },
      error: { code: 'LM-4001', scope: 'group' },
      links: [{ upstream: { url: expect.any(String) } }],
    })
  })

  test('of a budget that refuses fires no event', async () => {
    const hook = '[webhooks]\nurl = "https://hooks.test/in"\n'
    const gateway = await keyedGateway(hook + pricedProvider)
    gateway.upstream.always(whole('', { status: 204 }))
    const key = await gateway.key({ budget_max: 0 })
    await explain(gateway, prompt(), { key_id: key.id })
    await settled()
    expect(gateway.upstream.requests).toEqual([])
    await gateway.ask(key, prompt())
    await settled()
    expect(gateway.upstream.body()).toMatchObject({ type: 'budget.exhausted' })
  })

  test('of remote images to embed has their refusal, and no upstream call', async () => {
    const models = '{ id = "e", capabilities = ["embed"], modalities = ["text", "image"] }'
    const config = (fetching: string) => `
      [image_fetch]
      ${fetching}
      [[providers]]
      name = "p"
      kind = "jina"
      api_key_env = "P_KEY"
      models = [${models}]`
    const part = { type: 'image_url', image_url: { url: 'https://images.test/a.png' } }
    const body = { model: 'e', input: [[part]] }
    const off = await keyedGateway(config('enabled = false'))
    const at = { path: '/v1/embeddings' }
    expect((await explain(off, body, at))['error']).toMatchObject({ code: 'LM-2005' })
    const imageFetch = { resolve: unreachable, fetch: unreachable }
    const other = 'enabled = true\nallowed_hosts = ["other.test"]'
    const guarded = await keyedGateway(config(other), { imageFetch })
    expect((await explain(guarded, body, at))['error']).toMatchObject({ code: 'LM-2006' })
    expect(guarded.log.filter(({ message }) => message === 'image refused')).toEqual([])
    const open = await keyedGateway(config('enabled = true'), { imageFetch })
    expect(await explain(open, body, at)).toMatchObject({
      error: null,
      links: [{ error: null, upstream: null }],
    })
  })

  test('for a key says what the key may not do', async () => {
    const gateway = await keyedGateway()
    const limited = await gateway.key({ models: ['other'] })
    const disabled = await gateway.key()
    await gateway.admin('PATCH', `/admin/keys/${disabled.id}`, { disabled: true })
    const codeFor = async ({ id }: { id: string }) =>
      (await explain(gateway, prompt(), { key_id: id }))['admission']
    expect(await codeFor(limited)).toMatchObject({ code: 'LM-4005' })
    expect(await codeFor(disabled)).toMatchObject({ code: 'LM-4004' })
  })

  test('without a key is for a sender whom no limit stops', async () => {
    const gateway = await keyedGateway()
    expect((await explain(gateway, prompt()))['admission']).toMatchObject({ verdict: 'admitted' })
  })

  test("of Azure's path puts the model of the path into the body", async () => {
    const gateway = await keyedGateway()
    const { route, links } = await explain(
      gateway,
      { ...prompt(), model: 'other' },
      { path: '/openai/deployments/m/chat/completions?api-version=1' },
    )
    expect(route).toMatchObject({ id: 'm' })
    expect(links).toMatchObject([{ upstream: { body: { model: 'upstream-m' } } }])
  })

  test('needs the master key', async () => {
    const gateway = await keyedGateway()
    const answer = await gateway.get('/admin/explain', { method: 'POST', body: '{}' })
    expect(answer.status).toBe(401)
  })
})

describe('a question is refused with the field at fault', () => {
  test.each([
    ['path', { path: '/v1/chat', body: {} }, 'no such route'],
    ['path', { path: '/v1/../v1/chat/completions', body: {} }, 'segment'],
    ['path', { path: '/v1/models', body: {} }, 'no such route'],
    ['path', { body: {} }, 'must be a path'],
    ['body', { path }, 'is required'],
    ['key_id', { path, body: {}, key_id: 'a'.repeat(32) }, 'no such key'],
    ['key_id', { path, body: {}, key_id: 'x' }, 'no such key'],
    ['key', { path, body: {}, key: 'x' }, 'unknown field'],
  ])('%s of %j', async (param, question, message) => {
    const gateway = await keyedGateway()
    const { status, body } = await gateway.admin('POST', '/admin/explain', question)
    expect(status).toBe(400)
    expect(body).toMatchObject({
      error: { code: 'LM-1001', param, message: expect.stringContaining(message) },
    })
  })
})

test('an embedded gateway explains requests without auth', async () => {
  const { gateway } = await keyedGateway()
  const text = await gateway.explain({ path, body: JSON.stringify(prompt()) })
  expect(JSON.parse(text)).toMatchObject({ route: { id: 'm' }, error: null })
})
