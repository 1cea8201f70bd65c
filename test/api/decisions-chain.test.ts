import { describe, expect, test } from 'vitest'
import { cacheHeaders, cacheOn } from '../support/cached.ts'
import { byProvider, called } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import {
  answers,
  asked,
  decide,
  decisionConfig,
  type Form,
  forms,
  strictUpstream,
} from '../support/decisions.ts'
import { afterRetries } from '../support/embed-kinds.ts'
import { providerKey } from '../support/gateway.ts'
import { errorIn, keyedGateway, readSpend } from '../support/keyed-gateway.ts'
import { json, whole } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/*
 * What requests for decisions share with all others: chains, prices, budgets, the cache, explanations.
 */

interface Link {
  readonly form: Form
  readonly name: string
  readonly model?: object
}

function links(all: readonly Link[], head = ''): string {
  const providers = all.map(({ form, name, model = {} }) =>
    decisionConfig({
      kind: form,
      provider: { name, base_url: `http://${name}.test/v1` },
      model: { id: name, ...model },
    }),
  )
  return `${head}\n${providers.join('\n')}`
}

const fallback = (id: string) => ({ fallbacks: [id] })

describe('a chain', () => {
  test.each(forms)('passes over links of the other form than %s, without a call', async (form) => {
    const other = form === 'openai' ? 'typesafe' : 'openai'
    const gateway = await watchedGateway(
      links([
        { form: other, name: 'a', model: fallback('b') },
        { form, name: 'b' },
      ]),
    )
    gateway.upstream.always(strictUpstream(form, providerKey))
    const response = await decide(gateway, { ...asked[form], model: 'a' })
    expect(response.status, await response.clone().text()).toBe(200)
    expect(response.headers.get('x-gateway-model-used')).toBe('b')
    expect(response.headers.get('x-gateway-attempts')).toBe('1')
    expect(called(gateway.upstream)).toEqual(['b'])
  })

  test('whose only other link cannot express the request ends with the failures of both', async () => {
    const gateway = await watchedGateway(
      links([
        { form: 'openai', name: 'a', model: fallback('b') },
        { form: 'typesafe', name: 'b' },
      ]),
    )
    gateway.upstream.always(json({ error: { message: 'down' } }, { status: 503 }))
    const response = await afterRetries(gateway, decide(gateway, { ...asked.openai, model: 'a' }))
    expect(response.status).toBe(503)
    const { code, message } = await expectErrorShape(response)
    expect(code).toBe('LM-3004')
    expect(message).toContain('cannot express the request: model b')
    expect(message).toContain('takes decisions with state')
    expect(new Set(called(gateway.upstream))).toEqual(new Set(['a']))
  })

  test('goes on after a provider that is overloaded, and opens its circuit', async () => {
    const head =
      '[resilience]\nretry_max_attempts = 2\ncircuit_failure_threshold = 2\ncircuit_cooldown_ms = 3600000'
    const gateway = await watchedGateway(
      links(
        [
          { form: 'typesafe', name: 'a', model: fallback('b') },
          { form: 'typesafe', name: 'b' },
        ],
        head,
      ),
    )
    byProvider(gateway.upstream, {
      a: json({ error: { message: 'overloaded' } }, { status: 529 }),
      b: whole(answers.typesafe),
    })
    const body = { ...asked.typesafe, model: 'a' }
    const first = await afterRetries(gateway, decide(gateway, body))
    expect(first.headers.get('x-gateway-model-used')).toBe('b')
    expect(called(gateway.upstream)).toEqual(['a', 'a', 'b'])
    await decide(gateway, body)
    expect(called(gateway.upstream)).toEqual(['a', 'a', 'b', 'b'])
  })

  test('a route takes the target that has the form of the request', async () => {
    const gateway = await watchedGateway(`${links([
      { form: 'openai', name: 'a' },
      { form: 'typesafe', name: 'b' },
    ])}
[[routes]]
id = "r"
strategy = "weighted"
targets = [{ model = "a" }, { model = "b" }]
`)
    byProvider(gateway.upstream, { a: whole(answers.openai), b: whole(answers.typesafe) })
    for (const form of [...forms, ...forms]) {
      const response = await decide(gateway, { ...asked[form], model: 'r' })
      expect(await response.text()).toBe(answers[form])
    }
  })

  test('a session stays at the key that served it', async () => {
    const keys = { api_key_envs: ['K1', 'K2', 'K3'] } as unknown as Record<string, string>
    const config = decisionConfig({ kind: 'openai', provider: keys })
    const gateway = await watchedGateway(config, {
      env: { P_KEY: 'k0', K1: 'k1', K2: 'k2', K3: 'k3' },
    })
    gateway.upstream.always(whole(answers.openai))
    for (const key of ['s', 's', 's', undefined, undefined]) {
      await decide(gateway, { ...asked.openai, prompt_cache_key: key })
    }
    const sent = gateway.upstream.requests.map(({ headers }) => headers['authorization'])
    expect(new Set(sent.slice(0, 3)).size).toBe(1)
    expect(new Set(sent).size).toBeGreaterThan(1)
  })

  test('a link whose window is too small is passed over', async () => {
    const gateway = await watchedGateway(
      links([
        { form: 'openai', name: 'a', model: { ...fallback('b'), context_window: 50 } },
        { form: 'openai', name: 'b' },
      ]),
    )
    gateway.upstream.always(whole(answers.openai))
    await decide(gateway, { ...asked.openai, model: 'a' })
    expect(called(gateway.upstream)).toEqual(['b'])
  })
})

/** One dollar for a million tokens of the prompt: 1,000 nano-dollars a token. */
const priced = (form: Form, more: object = {}) =>
  decisionConfig({ kind: form, model: { cost_per_1m_input: 1, ...more } })

describe('money', () => {
  test.each(forms)(
    '%s: the input is charged, and output that is reported is free',
    async (form) => {
      const gateway = await keyedGateway(priced(form))
      gateway.upstream.always(whole(answers[form]))
      const key = await gateway.key({ budget_max: 1 })
      const answer = await gateway.ask(key, asked[form], '/v1/decisions')
      expect(answer.status).toBe(200)
      const tokens = form === 'openai' ? [212, 3] : [140, 8]
      expect(answer.headers.get('x-gateway-cost')).toBe(form === 'openai' ? '0.000212' : '0.00014')
      expect(await gateway.rows()).toMatchObject([
        {
          api: 'decisions',
          capability: 'decisions',
          tokensIn: tokens[0],
          tokensOut: tokens[1],
          cachedTokens: form === 'openai' ? 100 : 40,
          cost: BigInt(tokens[0] ?? 0) * 1000n,
          status: 200,
          stream: false,
        },
      ])
      expect(await readSpend(gateway, key.id)).toBe(form === 'openai' ? 0.000212 : 0.00014)
    },
  )

  test('cached and written tokens have their own prices, and output where it is configured', async () => {
    const prices = {
      cost_per_1m_cached_input: 0.1,
      cost_per_1m_cache_write: 1.25,
      cost_per_1m_output: 100,
    }
    const gateway = await keyedGateway(priced('openai', prices))
    gateway.upstream.always(whole(answers.openai))
    const key = await gateway.key({ budget_max: 10 })
    await gateway.ask(key, asked.openai, '/v1/decisions')
    // 100 of the 212 tokens were read, 12 written.
    const cost = 100n * 1000n + 100n * 100n + 12n * 1250n + 3n * 100_000n
    expect(await gateway.rows()).toMatchObject([{ cost, cacheWriteTokens: 12 }])
  })

  test('the prompt is reserved at the dearest of its prices, and no output', async () => {
    const gateway = await keyedGateway(priced('openai', { cost_per_1m_cache_write: 2 }))
    const { body } = await gateway.admin('POST', '/admin/explain', {
      path: '/v1/decisions',
      body: asked.openai,
    })
    const { prompt_tokens: tokens } = body['estimate'] as { prompt_tokens: number }
    expect(body).toMatchObject({
      reservation: (tokens * 2) / 1e6,
      admission: { verdict: 'admitted' },
    })
    const key = await gateway.key({ budget_max: (tokens * 2) / 1e6 - 1e-9 })
    const refused = await gateway.ask(key, asked.openai, '/v1/decisions')
    expect(errorIn(refused)).toMatchObject({ code: 'LM-4001' })
    expect(gateway.upstream.requests).toEqual([])
  })

  test('output that has a price is reserved up to max_output_tokens', async () => {
    const more = { cost_per_1m_output: 10, max_output_tokens: 50 }
    const gateway = await keyedGateway(priced('typesafe', more))
    const { body } = await gateway.admin('POST', '/admin/explain', {
      path: '/v1/systemone',
      body: asked.typesafe,
    })
    const { prompt_tokens: tokens } = body['estimate'] as { prompt_tokens: number }
    expect(body['reservation']).toBeCloseTo((tokens + 50 * 10) / 1e6, 12)
  })

  test.each<[string, Readonly<Record<string, unknown>>, string | undefined]>([
    ['no price', {}, 'cost_per_1m_input'],
    ['the price of output alone', { cost_per_1m_output: 1 }, 'cost_per_1m_input'],
    ['the price of input', { cost_per_1m_input: 1 }, undefined],
    ['a fee for requests', { cost_per_1k_requests: 1 }, undefined],
    [
      'the price of input, and chat',
      { cost_per_1m_input: 1, capabilities: ['chat', 'decisions'] },
      'cost_per_1m_output',
    ],
  ])('unpriced requests are refused: with %s', async (_, model, setting) => {
    const config = decisionConfig({ kind: 'openai', model })
    const gateway = await keyedGateway(config, { auth: 'unpriced = "refuse_capped"\n' })
    gateway.upstream.always(whole(answers.openai))
    const key = await gateway.key({ budget_max: 1 })
    const answer = await gateway.ask(key, asked.openai, '/v1/decisions')
    if (setting === undefined) expect(answer.status).toBe(200)
    else expect(errorIn(answer)).toMatchObject({ code: 'LM-4007', setting })
  })

  test('two entries of one model of the vendor have prices of their own', async () => {
    const chat = `
[[providers.models]]
id = "talk"
upstream_id = "upstream-m"
cost_per_1m_input = 5
cost_per_1m_output = 7
`
    const gateway = await keyedGateway(priced('openai') + chat)
    const completion = {
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 1 },
    }
    gateway.upstream.next(whole(answers.openai), json(completion))
    const key = await gateway.key({ budget_max: 1 })
    await gateway.ask(key, asked.openai, '/v1/decisions')
    await gateway.ask(key, { model: 'talk', messages: [{ role: 'user', content: 'x' }] })
    expect(await gateway.rows()).toMatchObject([{ cost: 212_000n }, { cost: 57_000n }])
  })

  test('OpenRouter says what an answer costs', async () => {
    const config = decisionConfig({
      kind: 'openrouter',
      model: { cost_per_1m_input: 1, cost: 'reported' },
    })
    const gateway = await keyedGateway(config)
    const usage = { input_tokens: 140, output_tokens: 8, cost: 0.0000042 }
    gateway.upstream.next(json({ answers: { a: {} }, usage }))
    const key = await gateway.key({ budget_max: 1 })
    await gateway.ask(key, asked.typesafe, '/v1/decisions')
    expect(await gateway.rows()).toMatchObject([{ cost: 4200n, costSource: 'reported' }])
  })

  test('a failed answer is charged by what it reports', async () => {
    const gateway = await keyedGateway(priced('openai'))
    const usage = { input_tokens: 100, output_tokens: 0 }
    gateway.upstream.next(json({ answers: [], usage }), whole(answers.openai))
    const key = await gateway.key({ budget_max: 1 })
    const asking = gateway.get('/v1/decisions', {
      method: 'POST',
      headers: key.headers,
      body: JSON.stringify(asked.openai),
    })
    expect((await afterRetries(gateway, asking)).status).toBe(200)
    expect(await gateway.rows()).toMatchObject([{ cost: 312_000n, attempts: 2 }])
  })

  test('limits of requests and tokens hold', async () => {
    const gateway = await keyedGateway(priced('openai'))
    gateway.upstream.always(whole(answers.openai))
    const key = await gateway.key({ tpm_limit: 1000, rpm_limit: 3 })
    const statuses: number[] = []
    for (let at = 0; at < 4; at++) {
      statuses.push((await gateway.ask(key, asked.openai, '/v1/decisions')).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429])
    expect((await gateway.get('/v1/decisions', { method: 'POST', body: '{}' })).status).toBe(401)
  })

  test('rows are found by their API', async () => {
    const gateway = await keyedGateway(priced('openai'))
    gateway.upstream.always(whole(answers.openai))
    await gateway.ask(await gateway.key(), asked.openai, '/v1/decisions')
    await gateway.rows()
    for (const filter of ['api=decisions', 'capability=decisions']) {
      const { body } = await gateway.admin('GET', `/admin/usage?${filter}`)
      expect(body, filter).toMatchObject({ groups: [{ requests: 1 }] })
    }
  })
})

describe('the cache', () => {
  const cached = (form: Form) => cacheOn() + decisionConfig({ kind: form, model: { cache: true } })

  test.each(forms)('%s: an equal request gets the same bytes', async (form) => {
    const gateway = await watchedGateway(cached(form))
    gateway.upstream.next(whole(answers[form]))
    const first = await decide(gateway, asked[form])
    expect(cacheHeaders(first)).toEqual(['miss'])
    // Once by the same bytes, once by another spelling.
    for (const body of [JSON.stringify(asked[form]), JSON.stringify(asked[form], null, 2)]) {
      const again = await decide(gateway, body)
      expect(cacheHeaders(again)).toEqual(['hit', '0'])
      expect(await again.text()).toBe(answers[form])
    }
  })

  test('both paths share the answers of the form that both take', async () => {
    const gateway = await watchedGateway(cached('typesafe'))
    gateway.upstream.next(whole(answers.typesafe))
    await decide(gateway, asked.typesafe, { path: '/v1/systemone' })
    expect(cacheHeaders(await decide(gateway, asked.typesafe))).toEqual(['hit', '0'])
  })

  test('a kept answer is not one to a path that does not take the request', async () => {
    const gateway = await watchedGateway(cached('openai'))
    gateway.upstream.next(whole(answers.openai))
    for (const _ of [1, 2]) await decide(gateway, asked.openai)
    const refused = await decide(gateway, asked.openai, { path: '/v1/systemone' })
    expect(await expectErrorShape(refused)).toMatchObject({ code: 'LM-1001', param: 'input' })
  })

  test('a header that reaches the vendor makes another request', async () => {
    const gateway = await watchedGateway(cached('typesafe'))
    gateway.upstream.always(whole(answers.typesafe))
    await decide(gateway, asked.typesafe)
    const headers = { 'typesafe-danger-zone-long-context': 'true' }
    expect(cacheHeaders(await decide(gateway, asked.typesafe, { headers }))).toEqual(['miss'])
  })
})

test('an explanation shows the call, and why a link is passed over', async () => {
  const gateway = await keyedGateway(
    links([
      { form: 'openai', name: 'a', model: fallback('b') },
      { form: 'typesafe', name: 'b' },
    ]),
  )
  const explain = async (path: string, body: object) =>
    (await gateway.admin('POST', '/admin/explain', { path, body: { ...body, model: 'a' } })).body
  expect(await explain('/v1/systemone', asked.typesafe)).toMatchObject({
    route: { order: ['a', 'b'] },
    links: [
      { model: 'a', error: { code: 'LM-1001', param: 'state' }, upstream: null },
      {
        model: 'b',
        error: null,
        upstream: {
          url: 'http://b.test/v1/systemone',
          body: { ...asked.typesafe, model: 'upstream-m' },
        },
      },
    ],
  })
  expect(await explain('/v1/systemone', asked.openai)).toMatchObject({
    error: { code: 'LM-1001', param: 'input' },
  })
})

test('models show the capability', async () => {
  const gateway = await watchedGateway(decisionConfig({ kind: 'typesafe' }))
  const { data } = (await (await gateway.get('/v1/models')).json()) as { data: unknown }
  expect(data).toMatchObject([{ id: 'm', capabilities: ['decisions'] }])
})

test('settings of the body apply', async () => {
  const gateway = await watchedGateway(
    `${decisionConfig({ kind: 'openai' })}[providers.models.body]\nset = { safety_identifier = "us" }\ndrop = ["prompt_cache_key"]\n`,
  )
  gateway.upstream.always(strictUpstream('openai', providerKey))
  expect((await decide(gateway, { ...asked.openai, prompt_cache_key: 'k' })).status).toBe(200)
  expect(gateway.upstream.body()).toEqual({
    ...asked.openai,
    model: 'upstream-m',
    safety_identifier: 'us',
  })
})
