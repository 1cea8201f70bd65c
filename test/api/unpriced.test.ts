import { describe, expect, test } from 'vitest'
import { errorIn, keyedGateway, pricedProvider, prompt, used } from '../support/keyed-gateway.ts'
import { json } from '../support/scripted-upstream.ts'

/*
 * `auth.unpriced`: what happens to requests whose cost is not known.
 */

const capped = { auth: 'unpriced = "refuse_capped"\n' }
const always = { auth: 'unpriced = "refuse"\n' }
const bare = pricedProvider.replaceAll(/cost_.*\n/g, '')
const only = (...prices: readonly string[]) => `${bare}${prices.join('\n')}\n`
const input = 'cost_per_1m_input = 1'
const output = 'cost_per_1m_output = 2'
const responses = '/v1/responses'

describe('a model without a price', () => {
  test('is refused for a key with a cap before any call, and leaves a row and no other trace', async () => {
    const gateway = await keyedGateway(only(input), capped)
    const limits = { rpm_limit: 1, tpm_limit: 1000, max_parallel: 1 }
    const key = await gateway.key({ budget_max: 1, ...limits })
    for (const _ of [1, 2]) {
      const refused = await gateway.ask(key, prompt())
      expect(refused.status).toBe(402)
      expect(errorIn(refused)).toMatchObject({
        code: 'LM-4007',
        type: 'invalid_request',
        message:
          'model m has no price for output, and auth.unpriced refuses requests whose cost is not known: ' +
          'cost_per_1m_output is missing in its configuration',
        model: 'm',
        setting: 'cost_per_1m_output',
      })
      expect(refused.headers.get('retry-after')).toBeNull()
    }
    expect(gateway.upstream.requests).toEqual([])
    expect(await gateway.rows()).toMatchObject([
      { status: 402, errorCode: 'LM-4007', cost: 0n, tokensTotal: 0, modelUsed: null, attempts: 0 },
      { status: 402 },
    ])
    const { body } = await gateway.admin('GET', `/admin/keys/${key.id}`)
    expect(body).toMatchObject({ budget_spent: 0, spent_total: 0 })
  })

  test('is refused for a key whose group has a cap', async () => {
    const gateway = await keyedGateway(bare, capped)
    const key = await gateway.key({ group_id: await gateway.group({ budget_max: 1 }) })
    expect(errorIn(await gateway.ask(key, prompt()))).toMatchObject({ code: 'LM-4007' })
  })

  test.each<[string, string, object, number]>([
    ['allow', '', { budget_max: 1 }, 200],
    ['refuse_capped', capped.auth, {}, 200],
    ['refuse_capped', capped.auth, { budget_max: 1 }, 402],
    ['refuse', always.auth, {}, 402],
    ['refuse', always.auth, { budget_max: 1 }, 402],
  ])('with %s %j and a key with %j is %i', async (_, auth, limits, status) => {
    const gateway = await keyedGateway(bare, { auth })
    gateway.upstream.next(used(8, 1))
    expect((await gateway.ask(await gateway.key(limits), prompt())).status).toBe(status)
  })

  test.each<[string, readonly string[], string | undefined]>([
    ['chat', [], 'cost_per_1m_input'],
    ['chat', [input], 'cost_per_1m_output'],
    ['chat', [output], 'cost_per_1m_input'],
    ['chat', ['cost_per_1m_input = 0', output], undefined],
    ['chat', [input, 'cost_per_1m_output = 0'], undefined],
    ['chat', ['cost_per_1k_requests = 5'], undefined],
    ['chat', ['cost_per_1m_cached_input = 1'], 'cost_per_1m_input'],
    ['embed', [output], 'cost_per_1m_input'],
    ['embed', [input], undefined],
  ])('%s with %j lacks %s', async (capability, prices, setting) => {
    const config = only(`capabilities = ["${capability}"]`, ...prices)
    const gateway = await keyedGateway(config, capped)
    const key = await gateway.key({ budget_max: 1 })
    const isChat = capability === 'chat'
    const vectors = json({ data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 1 } })
    gateway.upstream.next(isChat ? used(8, 1) : vectors)
    const path = isChat ? undefined : '/v1/embeddings'
    const answer = await gateway.ask(key, isChat ? prompt() : { model: 'm', input: 'Hi' }, path)
    if (setting === undefined) expect(answer.status).toBe(200)
    else expect(errorIn(answer)).toMatchObject({ code: 'LM-4007', setting })
  })

  test('rerank needs a price of searches or of tokens', async () => {
    const cohere = bare.replace('"openai"', '"cohere"').concat('capabilities = ["rerank"]\n')
    const body = { model: 'm', query: 'q', documents: ['a'] }
    for (const [prices, status] of [
      ['', 402],
      ['cost_per_1k_searches = 2\n', 200],
      ['cost_per_1m_input = 1\n', 200],
    ] as const) {
      const gateway = await keyedGateway(cohere + prices, capped)
      gateway.upstream.next(json({ results: [{ index: 0, relevance_score: 1 }] }))
      const key = await gateway.key({ budget_max: 1 })
      expect((await gateway.ask(key, body, '/v1/rerank')).status).toBe(status)
    }
  })

  test('a stream is refused as JSON before it begins', async () => {
    const gateway = await keyedGateway(bare, capped)
    const key = await gateway.key({ budget_max: 1 })
    const refused = await gateway.ask(key, prompt(8, { stream: true }))
    expect(errorIn(refused)).toMatchObject({ code: 'LM-4007' })
  })
})

describe('a chain', () => {
  const second = `
[[providers.models]]
id = "n"
`
  const once = 'resilience.retry_max_attempts = 1\n'
  const withFallback = (first: string, fallback: string) =>
    `${bare}fallbacks = ["n"]\n${first}${second}${fallback}`
  const prices = `${input}\n${output}\n`

  test('passes over a fallback without a price', async () => {
    const gateway = await keyedGateway(once + withFallback(prices, ''), capped)
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(json({}, { status: 500 }))
    expect((await gateway.ask(key, prompt())).status).not.toBe(200)
    expect(gateway.upstream.requests).toHaveLength(1)
    // Without a cap the fallback is tried.
    gateway.upstream.next(json({}, { status: 500 }), used(8, 1))
    expect((await gateway.ask(await gateway.key(), prompt())).status).toBe(200)
  })

  test('is refused when its model has no price, whatever its fallbacks have', async () => {
    const gateway = await keyedGateway(withFallback('', prices), capped)
    const key = await gateway.key({ budget_max: 1 })
    expect(errorIn(await gateway.ask(key, prompt()))).toMatchObject({ code: 'LM-4007', model: 'm' })
  })

  const route = (...targets: readonly string[]) =>
    `\n[[routes]]\nid = "r"\nstrategy = "weighted"\ntargets = [${targets.map((id) => `{ model = "${id}" }`).join()}]\n`

  test('a route passes over a target without a price, and is refused when no target has one', async () => {
    const config = `${bare}${second}${prices}${route('m', 'n')}`
    const gateway = await keyedGateway(config, capped)
    const key = await gateway.key({ budget_max: 1 })
    for (const _ of [1, 2, 3, 4]) {
      gateway.upstream.next(used(8, 1))
      const answer = await gateway.ask(key, { ...prompt(), model: 'r' })
      expect(answer.headers.get('x-gateway-model-used')).toBe('n')
    }
    const none = await keyedGateway(`${bare}${second}${route('m', 'n')}`, capped)
    const other = await none.key({ budget_max: 1 })
    const refused = await none.ask(other, { ...prompt(), model: 'r' })
    expect(errorIn(refused)).toMatchObject({ code: 'LM-4007', model: 'm' })
  })

  test('explain shows the refusal, and the links that are passed over', async () => {
    const gateway = await keyedGateway(withFallback(prices, ''), capped)
    const key = await gateway.key({ budget_max: 1 })
    const question = { path: '/v1/chat/completions', body: prompt(), key_id: key.id }
    const { body } = await gateway.admin('POST', '/admin/explain', question)
    expect(body).toMatchObject({
      admission: { verdict: 'admitted' },
      links: [
        { model: 'm', error: null },
        { model: 'n', error: { code: 'LM-4007' }, upstream: null },
      ],
    })
    const refusing = await keyedGateway(bare, capped)
    const other = await refusing.key({ budget_max: 1 })
    const asked = { ...question, key_id: other.id }
    expect((await refusing.admin('POST', '/admin/explain', asked)).body).toMatchObject({
      admission: { verdict: 'refused', code: 'LM-4007', scope: null },
      links: [{ error: { code: 'LM-4007' }, upstream: null }],
      error: { code: 'LM-4007', setting: 'cost_per_1m_input' },
    })
  })
})

describe('a request whose cost depends on what it asks for', () => {
  const refuse = async (
    config: string,
    body: object,
    path = '/v1/chat/completions',
  ): Promise<unknown> => {
    const gateway = await keyedGateway(config, capped)
    const key = await gateway.key({ budget_max: 1 })
    const asked = { path, body, key_id: key.id }
    const { body: explained } = await gateway.admin('POST', '/admin/explain', asked)
    const error = explained['error'] as { code: string; setting: string } | null
    expect(error?.code ?? 'LM-4007').toBe('LM-4007')
    return error?.setting
  }
  const tier = (name: string) => `[[providers.models.prices]]\ntier = "${name}"\nmultiply = 2\n`

  test.each<[string | undefined, string, string | undefined]>([
    ['flex', tier('priority'), 'prices with tier = "flex"'],
    ['priority', tier('priority'), undefined],
    ['fast', tier('priority'), undefined],
    ['default', tier('priority'), undefined],
    ['auto', tier('priority'), undefined],
    [undefined, tier('priority'), undefined],
    // No entry names a tier: prices do not depend on it.
    ['flex', '[[providers.models.prices]]\nabove_input = 5\nmultiply = 2\n', undefined],
    ['flex', '', undefined],
  ])('tier %s with %j lacks %s', async (service_tier, entries, setting) => {
    expect(await refuse(pricedProvider + entries, prompt(8, { service_tier }))).toBe(setting)
  })

  const ask = (...tools: readonly unknown[]) => ({ model: 'm', input: 'Hi', tools })
  const search = { type: 'web_search' }

  test('a tool of the vendor needs a price, which may be 0', async () => {
    const lacking = 'tool_costs_per_1k.web_search'
    expect(await refuse(pricedProvider, ask(search), responses)).toBe(lacking)
    const free = `${pricedProvider}tool_costs_per_1k = { web_search = 0 }\n`
    expect(await refuse(free, ask(search), responses)).toBeUndefined()
    const old = `${pricedProvider}cost_per_1k_web_searches = 10\n`
    expect(await refuse(old, ask(search), responses)).toBeUndefined()
    const both = ask(search, { type: 'code_interpreter' })
    expect(await refuse(free, both, responses)).toBe('tool_costs_per_1k.code_execution')
    expect(await refuse(pricedProvider, prompt(8, { web_search_options: {} }))).toBe(lacking)
  })

  test('a tool of the client, and a word that a tool could be named by, need none', async () => {
    const called = { type: 'function', name: 'web_search', parameters: {} }
    expect(await refuse(pricedProvider, ask(called), responses)).toBeUndefined()
    const words = { ...ask(), input: 'search the file with web_search \u0000' }
    expect(await refuse(pricedProvider, words, responses)).toBeUndefined()
  })

  test('a tool that the link leaves out needs none', async () => {
    // Only the Responses API has this tool: the chat API, which the link speaks, cannot carry it.
    const chat = pricedProvider.replace('kind = "openai"', 'kind = "deepseek"')
    expect(await refuse(chat, ask(search), responses)).toBeUndefined()
  })

  test('a tool of an unknown type and a stored prompt need the price of some tool', async () => {
    const fees = `${pricedProvider}max_input_tokens = 100\ntool_costs_per_1k = { web_search = 10 }\n`
    const unknown = ask({ type: 'telepathy' })
    expect(await refuse(pricedProvider, unknown, responses)).toBe('tool_costs_per_1k')
    expect(await refuse(fees, unknown, responses)).toBeUndefined()
    const stored = { model: 'm', input: 'Hi', prompt: { id: 'pmpt_1' } }
    expect(await refuse(pricedProvider, stored, responses)).toBe('max_input_tokens')
    expect(await refuse(fees, stored, responses)).toBeUndefined()
  })

  test.each([{ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }])(
    'a prompt that %j continues needs its bound',
    async (more) => {
      const body = { model: 'm', input: 'Hi', ...more }
      expect(await refuse(pricedProvider, body, responses)).toBe('max_input_tokens')
      const bound = `${pricedProvider}max_input_tokens = 1000\n`
      expect(await refuse(bound, body, responses)).toBeUndefined()
    },
  )
})

describe('a request that costs nothing', () => {
  const free = only('cost_per_1m_input = 0', 'cost_per_1m_output = 0')

  test('passes a spent budget, as one without prices does not', async () => {
    for (const [config, status] of [
      [free, 200],
      [bare, 402],
      [only('cost_per_1m_input = 0'), 402],
    ] as const) {
      const gateway = await keyedGateway(config)
      const key = await gateway.key({ budget_max: 0 })
      gateway.upstream.next(used(8, 1))
      expect((await gateway.ask(key, prompt())).status).toBe(status)
    }
  })

  test('is none whose fallback has a price', async () => {
    const config = `${free}fallbacks = ["n"]\n[[providers.models]]\nid = "n"\n${input}\n${output}\n`
    const gateway = await keyedGateway(config)
    const key = await gateway.key({ budget_max: 0 })
    expect(errorIn(await gateway.ask(key, prompt()))).toMatchObject({ code: 'LM-4001' })
  })

  test('is none with an entry or a fee that costs something', async () => {
    for (const more of [
      '[[providers.models.prices]]\ntier = "priority"\ncost_per_1m_input = 1\n',
      'tool_costs_per_1k = { web_search = 1 }\n',
      'cost_per_1k_requests = 1\n',
    ]) {
      const gateway = await keyedGateway(free + more)
      const key = await gateway.key({ budget_max: 0 })
      expect((await gateway.ask(key, prompt())).status).toBe(402)
    }
  })
})
