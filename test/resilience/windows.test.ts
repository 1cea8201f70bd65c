import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Model } from '../../src/core/provider.ts'
import { findSmall } from '../../src/data-plane/request/context-window.ts'
import { chatBody, makeRoute, takeCalls } from '../routing/support.ts'
import { completion } from '../support/answers.ts'
import { byProvider, called, makeChain } from '../support/chain.ts'
import { testGateway } from '../support/gateway.ts'
import { errorIn, keyedGateway, prompt, used } from '../support/keyed-gateway.ts'
import { broken, json, type Responder, stream } from '../support/scripted-upstream.ts'
import { randomFrom } from '../support/seeded-random.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const answer = json(completion())
const ask = (more: object = {}) => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
})
const noRetry = 'retry_max_attempts = 1\ncircuit_failure_threshold = 1'
const tooLong: Responder = json(
  { error: { message: 'too long', code: 'context_length_exceeded' } },
  { status: 400 },
)
const filtered: Responder = json(
  { error: { message: 'filtered', code: 'content_filter' } },
  { status: 400 },
)

describe('a context window', () => {
  const windows = (...sizes: (number | undefined)[]) =>
    makeChain(
      sizes.map((size) => ({ model: size === undefined ? '' : `context_window = ${size}` })),
      noRetry,
    )
  const callsOf = async (config: string, body: object) => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.always(broken())
    await chat(body)
    return upstream.requests.map(({ url }) => new URL(url).hostname.split('.')[0])
  }
  const long = ask({ messages: [{ role: 'user', content: 'word '.repeat(400) }] })

  test('a link that is too small is passed over for a later one that is large enough', async () => {
    expect(await callsOf(windows(200, 100_000), long)).toEqual(['p2'])
    expect(await callsOf(windows(200, undefined), long)).toEqual(['p2'])
    expect(await callsOf(windows(200, 300, 100_000, 200), long)).toEqual(['p3', 'p4'])
  })

  test('a request that fits goes to all links in order', async () => {
    expect(await callsOf(windows(200, 100_000), ask())).toEqual(['p', 'p2'])
  })

  test('links are tried in order when none is large enough', async () => {
    expect(await callsOf(windows(200, 300), long)).toEqual(['p', 'p2'])
  })

  test('the output that the request asks for counts, whatever the member is called', async () => {
    const bounds = [{ max_tokens: 500 }, { max_completion_tokens: 500 }]
    for (const bound of bounds) {
      expect(await callsOf(windows(400, 100_000), ask(bound))).toEqual(['p2'])
    }
  })

  test.each([
    ['/v1/messages', { max_tokens: 500, messages: [{ role: 'user', content: 'Hi' }] }],
    ['/v1/responses', { max_output_tokens: 500, input: 'Hi' }],
    ['/v1/completions', { max_tokens: 500, prompt: 'Hi' }],
  ])('of %s too', async (path, body) => {
    const { get, upstream } = await watchedGateway(windows(400, 100_000))
    upstream.always(broken())
    await get(path, { method: 'POST', body: JSON.stringify({ model: 'm', ...body }) })
    expect(upstream.requests.map(({ url }) => new URL(url).hostname)).toEqual(['p2.test'])
  })

  test('a target of a route is passed over, and the session stays where it fits', async () => {
    const config = makeRoute({ weights: [1, 1], models: ['context_window = 200', ''] })
    const { chat, upstream } = await watchedGateway(config)
    upstream.always(answer)
    for (let at = 0; at < 4; at++) await chat({ ...long, model: 'r' })
    expect(takeCalls(upstream)).toBe('bbbb')
  })

  test('explain says which link is passed over, and why; /admin/routes has the windows', async () => {
    const models = ['context_window = 200', 'context_window = 100000']
    const gateway = await keyedGateway(makeRoute({ weights: [1, 1], models }))
    const question = { path: '/v1/chat/completions', body: { ...long, model: 'r' } }
    const message = expect.stringMatching(/^the context window of model a has 200 tokens, and the/)
    expect((await gateway.admin('POST', '/admin/explain', question)).body).toMatchObject({
      links: [{ model: 'a', error: { code: 'LM-2012', message }, upstream: null }, { error: null }],
    })
    expect((await gateway.admin('GET', '/admin/routes')).body).toMatchObject({
      routes: [{ targets: [{ context_window: 200 }, { context_window: 100_000 }] }],
    })
  })

  test('the links that are passed over are those of a plain model', () => {
    const window = fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined })
    const sizes = fc.tuple(
      fc.array(window, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 0, max: 22 }),
    )
    fc.assert(
      fc.property(sizes, ([given, tokens]) => {
        // Only these members are read.
        const order = given.map((contextWindow, id) => ({ id, contextWindow }) as unknown as Model)
        const small = findSmall(order, tokens)
        const isLarge = (size: number | undefined) => size === undefined || size >= tokens
        const expected = order.filter(
          (_, at) => !isLarge(given[at]) && given.slice(at + 1).some(isLarge),
        )
        expect([...small.keys()]).toEqual(expected)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('`fallback_on`', () => {
  const chain = (causes: string, more = '') =>
    makeChain([{ model: `fallback_on = [${causes}]` }, { model: more }], noRetry)
  const both = '"context_length", "content_filter"'

  test.each([
    ['context_length', tooLong, 'LM-2012'],
    ['content_filter', filtered, 'LM-2013'],
  ])('%s goes on to the next link, and is the answer without it', async (cause, refuse, code) => {
    for (const [causes, status] of [
      [`"${cause}"`, 200],
      ['', 400],
    ] as const) {
      const { chat, upstream, get } = await watchedGateway(chain(causes))
      byProvider(upstream, { p: refuse, p2: answer })
      for (let at = 0; at < 3; at++) {
        const response = await chat(ask())
        expect(response.status).toBe(status)
        if (status === 400) expect((await response.json()).error.code).toBe(code)
      }
      // It is no fault of the provider.
      const metrics = await (await get('/metrics')).text()
      expect(metrics).toContain('gateway_circuit_state{provider="p",model="m"} 0')
    }
  })

  test('one cause does not go on for the other', async () => {
    const { chat, upstream } = await watchedGateway(chain('"context_length"'))
    byProvider(upstream, { p: filtered, p2: answer })
    expect((await chat(ask())).status).toBe(400)
  })

  test.each([
    [tooLong, tooLong, 'LM-2012', 400],
    [filtered, filtered, 'LM-2013', 400],
    [tooLong, filtered, 'LM-3004', 503],
    [tooLong, broken(), 'LM-3004', 503],
    [broken(), tooLong, 'LM-3004', 503],
  ])(
    'what all links answer (case %#) is the answer, and mixed it is LM-3004',
    async (first, second, code, status) => {
      const { chat, upstream } = await watchedGateway(chain(both, `fallback_on = [${both}]`))
      byProvider(upstream, { p: first, p2: second })
      const response = await chat(ask())
      expect((await response.json()).error.code).toBe(code)
      expect(response.status).toBe(status)
    },
  )

  test('each link has its own, and a route decides for all of its links', async () => {
    const models = ['fallback_on = ["content_filter"]', '']
    const own = makeRoute({ weights: [1, 1], models })
    const ofRoute = (causes: string) =>
      own.replace('strategy =', `fallback_on = [${causes}]\nstrategy =`)
    for (const [config, calls] of [
      [own, 'ab'],
      [ofRoute(''), 'a'],
      [ofRoute('"content_filter"'), 'ab'],
    ] as const) {
      const { chat, upstream } = await watchedGateway(config)
      byProvider(upstream, { a: filtered, b: answer })
      await chat(chatBody())
      expect(takeCalls(upstream)).toBe(calls)
    }
  })
})

type Outcome = 'answers' | 'too long' | 'filtered' | 'down'

const responders: Readonly<Record<Outcome, Responder>> = {
  answers: answer,
  'too long': tooLong,
  filtered,
  down: json({ error: { message: 'down' } }, { status: 500 }),
}
const causeOf = { 'too long': 'context_length', filtered: 'content_filter' } as const
const codeOf = { 'too long': 'LM-2012', filtered: 'LM-2013' } as const

interface DrawnLink {
  readonly causes: readonly string[]
  readonly window: number | undefined
}

/** The plain model: the links that are called, and the status and the code of the answer. */
function expectServed(
  links: readonly DrawnLink[],
  ofRoute: readonly string[] | undefined,
  given: { tokens: number; outcomes: readonly Outcome[] },
) {
  const fits = ({ window }: DrawnLink) => window === undefined || window >= given.tokens
  const tried: number[] = []
  const failed: Exclude<Outcome, 'answers'>[] = []
  for (const [at, link] of links.entries()) {
    if (!fits(link) && links.slice(at + 1).some(fits)) continue
    const outcome = given.outcomes[at] ?? 'down'
    tried.push(at)
    if (outcome === 'answers') return { called: tried, status: 200, code: undefined }
    failed.push(outcome)
    if (outcome === 'down') continue
    if (!(ofRoute ?? link.causes).includes(causeOf[outcome])) {
      return { called: tried, status: 400, code: codeOf[outcome] }
    }
  }
  const [first] = failed
  const isShared = failed.every((one) => one === first)
  if (first !== 'down' && first && isShared)
    return { called: tried, status: 400, code: codeOf[first] }
  return {
    called: tried,
    status: isShared ? undefined : 503,
    code: isShared ? undefined : 'LM-3004',
  }
}

test('windows and causes are those of a plain model, for chains and routes', async () => {
  const random = randomFrom(38)
  const below = (limit: number) => Math.floor(random() * limit)
  const one = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item
  const causes = [[], ['context_length'], ['content_filter'], ['context_length', 'content_filter']]
  const outcomes: readonly Outcome[] = ['answers', 'too long', 'filtered', 'down']
  for (let run = 0; run < 60; run++) {
    const links = Array.from({ length: 2 + below(4) }, () => ({
      causes: one(causes),
      window: one([undefined, 20, 40, 80]),
    }))
    const ofRoute = below(2) === 0 ? undefined : one([undefined, ...causes])
    const isRoute = below(2) === 0 || ofRoute !== undefined
    const models = links.map(({ causes: own, window }) =>
      [
        `fallback_on = ${JSON.stringify(own)}`,
        ...(window === undefined ? [] : [`context_window = ${window}`]),
      ].join(', '),
    )
    const chain = makeChain(
      models.map((model) => ({ model })),
      'retry_max_attempts = 1\ncircuit_failure_threshold = 1000000',
    )
    const [first = '', ...others] = links.map((_, at) => (at === 0 ? 'm' : `m${at + 1}`))
    const route = `[[routes]]
      id = "r"
      strategy = "weighted"
      targets = [{ model = "${first}" }]
      fallbacks = ${JSON.stringify(others)}
      ${ofRoute ? `fallback_on = ${JSON.stringify(ofRoute)}` : ''}`
    const { chat, upstream } = await testGateway(`${chain}\n${route}`)
    for (let request = 0; request < 50; request++) {
      const given = { tokens: 8 + below(100), outcomes: links.map(() => one(outcomes)) }
      upstream.requests.length = 0
      byProvider(
        upstream,
        Object.fromEntries(
          given.outcomes.map((outcome, at) => [at === 0 ? 'p' : `p${at + 1}`, responders[outcome]]),
        ),
      )
      const response = await chat(prompt(given.tokens, { model: isRoute ? 'r' : 'm' }))
      const { error } = (await response.json()) as { error?: { code: string } }
      const expected = expectServed(links, isRoute ? ofRoute : undefined, given)
      const names = expected.called.map((at) => (at === 0 ? 'p' : `p${at + 1}`))
      const seen = JSON.stringify({ links, ofRoute, isRoute, given })
      expect(called(upstream), seen).toEqual(names)
      if (expected.status === undefined) expect(response.status, seen).toBeGreaterThanOrEqual(500)
      else expect([response.status, error?.code], seen).toEqual([expected.status, expected.code])
    }
  }
})

describe('an answer that a content filter has ended', () => {
  const config = (causes = '"content_filter"', kind = 'openai', settings = '') =>
    makeChain([{ kind, settings, model: `fallback_on = [${causes}]` }, {}], noRetry)
  const end = { index: 0, finish_reason: 'content_filter' }
  const usage = { prompt_tokens: 5, completion_tokens: 0, total_tokens: 5 }
  const ended = (content: string) =>
    json({ choices: [{ ...end, message: { role: 'assistant', content } }], usage })
  const chunk = (choice: object, more: object = {}) =>
    `data: ${JSON.stringify({ choices: [choice], ...more })}\n\n`
  const role = chunk({ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null })
  const stop = chunk({ ...end, delta: {} })
  const counts = `data: ${JSON.stringify({ choices: [], usage })}\n\n`
  const done = 'data: [DONE]\n\n'
  const word = chunk({ index: 0, delta: { content: 'Hi' }, finish_reason: null })
  const other = chunk({ index: 1, delta: { content: 'Hi' }, finish_reason: null })

  const served = async (first: Responder, body: object, given = config()) => {
    const { chat, upstream } = await watchedGateway(given)
    byProvider(upstream, { p: first, p2: 'stream' in body ? stream([word, stop, done]) : answer })
    const response = await chat(ask(body))
    await response.text()
    return response.headers.get('x-gateway-model-used')
  }

  test('without content it goes on, with content it is the answer', async () => {
    expect(await served(ended(''), {})).toBe('m2')
    expect(await served(ended('Some words'), {})).toBe('m')
    expect(await served(ended(''), {}, config(''))).toBe('m')
  })

  test('a stream goes on before its first content, and never after it', async () => {
    const body = { stream: true }
    expect(await served(stream([role, stop, counts, done]), body)).toBe('m2')
    expect(await served(stream([role, stop]), body)).toBe('m2')
    expect(await served(stream([role, word, stop, counts, done]), body)).toBe('m')
    expect(await served(stream([role, stop, other, done]), body)).toBe('m')
    expect(await served(stream([role, stop, counts, done]), body, config(''))).toBe('m')
  })

  test('Claude refuses', async () => {
    const refusal = {
      id: 'x',
      type: 'message',
      role: 'assistant',
      content: [],
      stop_reason: 'refusal',
      usage: { input_tokens: 5, output_tokens: 0 },
    }
    expect(await served(json(refusal), {}, config(undefined, 'anthropic'))).toBe('m2')
  })

  test('what the vendor bills for it is charged', async () => {
    const prices = 'cost_per_1m_input = 1, cost_per_1m_output = 1'
    const gateway = await keyedGateway(
      makeChain(
        [{ model: `${prices}, fallback_on = ["content_filter"]` }, { model: prices }],
        noRetry,
      ),
    )
    byProvider(gateway.upstream, { p: ended(''), p2: used(10, 0) })
    expect((await gateway.ask(await gateway.key(), ask())).status).toBe(200)
    expect(await gateway.rows()).toMatchObject([{ modelUsed: 'm2', cost: 15_000n }])
    byProvider(gateway.upstream, { p: ended(''), p2: filtered })
    const refused = await gateway.ask(await gateway.key(), ask())
    expect(errorIn(refused)).toMatchObject({ code: 'LM-2013' })
  })
})
