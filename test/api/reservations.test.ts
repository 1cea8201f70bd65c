import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { UpstreamRequest } from '../../src/index.ts'
import {
  type ClientKey,
  errorIn,
  type KeyedGateway,
  keyedGateway,
} from '../support/keyed-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { listUncovered } from '../support/translated-kinds.ts'

/** Reads the output bound and the choices of one upstream call; undefined without a bound. */
type Reading = (body: Record<string, unknown>) => { bound: number | undefined; choices: number }

/** A kind of the tested chains. `read` returns the largest bound that its upstream could apply. */
interface Kind {
  readonly kind: string
  readonly upstreamId: string
  readonly read: Reading
}

const count = (value: unknown) => (typeof value === 'number' ? value : 0)
const member = (value: unknown, name: string) =>
  (value as Record<string, unknown> | undefined)?.[name]

const openAi: Reading = (body) => ({
  bound:
    Math.max(
      ...['max_tokens', 'max_completion_tokens', 'max_output_tokens'].map((name) =>
        count(body[name]),
      ),
    ) || undefined,
  choices: count(body['n']) || 1,
})
const claude: Reading = (body) => ({ bound: count(body['max_tokens']), choices: 1 })
const converse: Reading = (body) => ({
  bound: count(member(body['inferenceConfig'], 'maxTokens')) || undefined,
  choices: 1,
})
const gemini: Reading = (body) => ({
  bound: count(member(body['generationConfig'], 'maxOutputTokens')) || undefined,
  choices: count(member(body['generationConfig'], 'candidateCount')) || 1,
})
const command: Reading = (body) => ({ bound: count(body['max_tokens']) || undefined, choices: 1 })

const kinds = {
  openai: { kind: 'openai', upstreamId: 'gpt', read: openAi },
  ollama: { kind: 'ollama', upstreamId: 'gemma', read: openAi },
  sonnet45: { kind: 'anthropic', upstreamId: 'claude-sonnet-4-5', read: claude },
  sonnet5: { kind: 'anthropic', upstreamId: 'claude-sonnet-5', read: claude },
  other: { kind: 'anthropic', upstreamId: 'a-model-of-its-own', read: claude },
  flash: { kind: 'google', upstreamId: 'gemini-2.5-flash', read: gemini },
  gemini3: { kind: 'google', upstreamId: 'gemini-3-pro', read: gemini },
  bedrockSonnet: {
    kind: 'bedrock',
    upstreamId: 'anthropic.claude-sonnet-4-5-v1:0',
    read: converse,
  },
  nova: { kind: 'bedrock', upstreamId: 'amazon.nova-2-lite-v1:0', read: converse },
  cohere: { kind: 'cohere', upstreamId: 'command-a', read: command },
} as const satisfies Readonly<Record<string, Kind>>

test('every API of a translated kind has a model', () => {
  expect(listUncovered(Object.values(kinds).map(({ kind }) => kind))).toEqual([])
})

interface Link {
  readonly kind: Kind
  /** `max_output_tokens` of the model. */
  readonly maxOutput: number | undefined
  /** USD per million output tokens: a token costs 1,000 times this number in nano-dollars. */
  readonly price: number
}

const assumed = 256
/** The heuristic estimate of the prompt `Hi`; a prompt token costs 1,000 nano-dollars. */
const promptTokens = 8

/** A gateway with these links in one chain: model `m0` falls back to all others. */
function gatewayWith(links: readonly Link[]): Promise<KeyedGateway> {
  const others = links.slice(1).map((_, at) => `m${at + 1}`)
  const providers = links.map(
    ({ kind: { kind, upstreamId }, maxOutput, price }, at) => `
      [[providers]]
      name = "p${at}"
      kind = "${kind}"
      base_url = "https://p${at}.test"
      api_key_env = "P_KEY"
      [[providers.models]]
      id = "m${at}"
      upstream_id = "${upstreamId}"
      cost_per_1m_input = 1
      cost_per_1m_output = ${price}
      ${maxOutput === undefined ? '' : `max_output_tokens = ${maxOutput}`}
      ${at === 0 ? `fallbacks = ${JSON.stringify(others)}` : ''}
    `,
  )
  return keyedGateway(
    `[resilience]\nretry_max_attempts = 1\ncircuit_failure_threshold = 1000\n${providers.join('')}`,
    { auth: `reserve_output_tokens = ${assumed}` },
  )
}

/** Returns the maximum cost of a call in nano-dollars, and its debit in tokens per minute. */
function allowedBy({ url, body }: UpstreamRequest, links: readonly Link[]) {
  const link = links[Number(new URL(url).hostname.slice(1, -'.test'.length))] as Link
  const { bound, choices } = link.kind.read(JSON.parse(new TextDecoder().decode(body)))
  const tokens = bound ?? link.maxOutput ?? assumed
  return {
    cost: promptTokens * 1_000 + tokens * choices * link.price * 1_000,
    debit: promptTokens + (bound ?? 0),
  }
}

/** Sends a request to every link; returns the maximum cost and debit of these calls. */
async function readMaximum(gateway: KeyedGateway, links: readonly Link[], body: object) {
  const { upstream } = gateway
  upstream.requests.length = 0
  const answer = await gateway.ask(await gateway.key(), body)
  expect(answer.status).not.toBe(400)
  expect(upstream.requests).toHaveLength(links.length)
  const allowed = upstream.requests.map((request) => allowedBy(request, links))
  return {
    cost: Math.max(...allowed.map(({ cost }) => cost)),
    debit: Math.max(...allowed.map(({ debit }) => debit)),
  }
}

/** Returns the cost in nano-dollars, given the output tokens per choice. */
const priceTokens = (tokens: number, choices = 1) => promptTokens * 1_000 + tokens * choices * 1_000

describe('a link reserves and debits exactly what its request allows', () => {
  const { openai, sonnet45, sonnet5, other, flash, gemini3, bedrockSonnet, nova, cohere } = kinds
  const cases: readonly (readonly [
    string,
    Kind,
    number | undefined,
    object,
    { sent?: number; reserved: number; choices?: number; debited?: number },
  ])[] = [
    [
      'the largest bound of three',
      openai,
      undefined,
      { max_tokens: 5_000, max_completion_tokens: 1, max_output_tokens: 70 },
      { sent: 5_000, reserved: 5_000 },
    ],
    [
      'a bound with the name of another API',
      openai,
      undefined,
      { max_output_tokens: 70 },
      { sent: 70, reserved: 70 },
    ],
    [
      'a bound in verbatim bytes, over the model’s own',
      openai,
      8_192,
      { max_tokens: 64_000 },
      { sent: 64_000, reserved: 64_000 },
    ],
    [
      'every requested choice',
      openai,
      undefined,
      { max_tokens: 10, n: 3 },
      { sent: 10, reserved: 10, choices: 3 },
    ],
    [
      'the default that Claude requires without a bound',
      sonnet45,
      undefined,
      {},
      { sent: 16_384, reserved: 16_384 },
    ],
    [
      'the default for other models of that API',
      other,
      undefined,
      {},
      { sent: 4_096, reserved: 4_096 },
    ],
    [
      'the model’s own bound in place of the default',
      sonnet45,
      300,
      {},
      { sent: 300, reserved: 300 },
    ],
    [
      'the bound of a coding agent, clamped',
      sonnet5,
      8_192,
      { max_tokens: 64_000 },
      { sent: 8_192, reserved: 8_192 },
    ],
    [
      'a bound below the model’s own',
      sonnet5,
      8_192,
      { max_tokens: 64 },
      { sent: 64, reserved: 64 },
    ],
    [
      'thinking on top of the bound',
      sonnet45,
      undefined,
      { max_tokens: 100, reasoning_effort: 'high' },
      { sent: 4_196, reserved: 4_196 },
    ],
    [
      'thinking on top of the default',
      sonnet45,
      undefined,
      { reasoning_effort: 'high' },
      { sent: 20_480, reserved: 20_480 },
    ],
    [
      'thinking within the model’s own bound',
      sonnet45,
      8_192,
      { max_tokens: 64_000, reasoning_effort: 'high' },
      { sent: 8_192, reserved: 8_192 },
    ],
    [
      'a single choice for a kind without n',
      sonnet5,
      undefined,
      { max_tokens: 10, n: 3 },
      { sent: 10, reserved: 10 },
    ],
    [
      'the larger of two bounds when only one is sent',
      sonnet5,
      undefined,
      { max_tokens: 500, max_completion_tokens: 10 },
      { sent: 10, reserved: 500 },
    ],
    [
      'a clamped bound for Gemini',
      flash,
      100,
      { max_tokens: 500, n: 2 },
      { sent: 100, reserved: 100, choices: 2 },
    ],
    [
      'a single choice for a newer Gemini',
      gemini3,
      undefined,
      { max_tokens: 500, n: 2 },
      { sent: 500, reserved: 500 },
    ],
    ['the model’s own bound where none is sent', flash, 900, {}, { reserved: 900, debited: 0 }],
    ['the assumed output without a bound', flash, undefined, {}, { reserved: assumed, debited: 0 }],
    [
      'a clamped bound for Command',
      cohere,
      100,
      { max_tokens: 500, n: 2 },
      { sent: 100, reserved: 100 },
    ],
    [
      'a clamped bound on Bedrock',
      bedrockSonnet,
      100,
      { max_tokens: 500 },
      { sent: 100, reserved: 100 },
    ],
    [
      'the thinking budget on Bedrock',
      bedrockSonnet,
      undefined,
      { reasoning_effort: 'high' },
      { sent: 8_192, reserved: 8_192 },
    ],
    [
      'more than the bound, which Nova refuses with high effort',
      nova,
      undefined,
      { max_tokens: 1, reasoning_effort: 'high' },
      { reserved: assumed, debited: 1 },
    ],
  ]

  test.each(cases)(
    '%s',
    async (_, kind, maxOutput, fields, { sent, reserved, choices = 1, debited = reserved }) => {
      const links = [{ kind, maxOutput, price: 1 }]
      const gateway = await gatewayWith(links)
      gateway.upstream.always(json({ error: { message: 'no' } }, { status: 500 }))
      const body = { model: 'm0', messages: [{ role: 'user', content: 'Hi' }], ...fields }
      const statusAt = async (limits: object) =>
        (await gateway.ask(await gateway.key(limits), body)).status
      expect(await statusAt({ budget_max: (priceTokens(reserved, choices) - 1) / 1e9 })).toBe(402)
      expect(await statusAt({ tpm_limit: promptTokens + debited - 1 })).toBe(429)
      expect(gateway.upstream.requests).toEqual([])
      expect(await statusAt({ budget_max: priceTokens(reserved, choices) / 1e9 })).toBe(502)
      expect(await statusAt({ tpm_limit: promptTokens + debited })).toBe(502)
      expect(kind.read(gateway.upstream.body() as Record<string, unknown>)).toEqual({
        bound: sent,
        choices,
      })
    },
  )

  test('the dearest link of a mixed chain prices the reservation', async () => {
    const cheap = { kind: openai, maxOutput: undefined, price: 2 }
    const dear = { kind: sonnet45, maxOutput: 3_000, price: 1 }
    const gateway = await gatewayWith([cheap, dear])
    gateway.upstream.always(json({ error: { message: 'no' } }, { status: 500 }))
    const body = { model: 'm0', messages: [{ role: 'user', content: 'Hi' }] }
    const poor = await gateway.key({ budget_max: (priceTokens(3_000) - 1) / 1e9 })
    expect((await gateway.ask(poor, body)).status).toBe(402)
    const rich = await gateway.key({ budget_max: priceTokens(3_000) / 1e9 })
    expect((await gateway.ask(rich, body)).status).toBe(503)
  })

  test('a link that cannot express the request reserves no output', async () => {
    const gateway = await gatewayWith([
      { kind: openai, maxOutput: undefined, price: 1 },
      { kind: sonnet45, maxOutput: undefined, price: 9 },
    ])
    gateway.upstream.always(json({ error: { message: 'no' } }, { status: 400 }))
    // The vendor requires the id of the call that a tool result answers.
    const messages = [{ role: 'tool', content: 'Hi' }]
    const body = { model: 'm0', messages, max_tokens: 100 }
    const key = await gateway.key({ budget_max: priceTokens(100) / 1e9 })
    expect((await gateway.ask(key, body)).status).toBe(400)
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test.each(['max_tokens', 'max_completion_tokens', 'max_output_tokens'])(
    '%s must be a positive integer',
    async (name) => {
      const gateway = await gatewayWith([{ kind: openai, maxOutput: undefined, price: 1 }])
      const key = await gateway.key()
      for (const value of [0, -1, 1.5, '5', true, 2 ** 53]) {
        const body = { model: 'm0', messages: [{ role: 'user', content: 'Hi' }], [name]: value }
        expect(errorIn(await gateway.ask(key, body))).toMatchObject({
          code: 'LM-1001',
          param: name,
        })
      }
    },
  )
})

describe('the thinking budget of a Claude model under a lowered bound', () => {
  const thinks = async (maxOutput: number, fields: object) => {
    const kind = kinds.sonnet45
    const gateway = await gatewayWith([{ kind, maxOutput, price: 1 }])
    gateway.upstream.always(json({ error: { message: 'no' } }, { status: 500 }))
    const body = { model: 'm0', messages: [{ role: 'user', content: 'Hi' }], ...fields }
    await gateway.ask(await gateway.key(), body)
    return (gateway.upstream.body() as { thinking?: unknown }).thinking
  }

  test.each([
    [8_192, { reasoning_effort: 'high' }, 4_096],
    [4_096, { reasoning_effort: 'high' }, 2_048],
    [1_500, { reasoning_effort: 'high' }, 1_024],
    [4_096, { thinking: { type: 'enabled', budget_tokens: 32_000 } }, 2_048],
    [64_000, { thinking: { type: 'enabled', budget_tokens: 32_000 } }, 32_000],
  ])('a bound of %i with %j gives a budget of %i', async (maxOutput, fields, budget) => {
    expect(await thinks(maxOutput, { ...fields, max_tokens: 64_000 })).toEqual({
      type: 'enabled',
      budget_tokens: budget,
    })
  })

  test('thinking is omitted when the bound leaves no room for it', async () => {
    expect(await thinks(1_000, { max_tokens: 64_000, reasoning_effort: 'high' })).toBeUndefined()
  })
})

const some = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
const bound = some(fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 70_000 })))
const anyLink: fc.Arbitrary<Link> = fc.record({
  kind: fc.constantFrom<Kind[]>(...Object.values(kinds)),
  maxOutput: some(fc.integer({ min: 1, max: 40_000 })),
  price: fc.integer({ min: 1, max: 9 }),
})
const anyBody = fc.record({
  model: fc.constant('m0'),
  messages: fc.constant([{ role: 'user', content: 'Hi' }]),
  max_tokens: bound,
  max_completion_tokens: bound,
  max_output_tokens: bound,
  n: some(fc.integer({ min: 1, max: 4 })),
  reasoning_effort: some(fc.constantFrom('none', 'low', 'high', 'max')),
  thinking: some(
    fc.record({
      type: fc.constant('enabled'),
      budget_tokens: fc.oneof(fc.integer({ min: 1_024, max: 50_000 }), fc.constant(-5.5)),
    }),
  ),
})

test('no reservation and no debit is below what the sent bytes allow on any link of the chain', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyLink, { minLength: 1, maxLength: 3 }),
      anyBody,
      async (links, body) => {
        const gateway = await gatewayWith(links)
        gateway.upstream.always(json({ error: { message: 'no' } }, { status: 500 }))
        const { cost, debit } = await readMaximum(gateway, links, body)
        gateway.upstream.requests.length = 0
        const poor = await gateway.key({ budget_max: (cost - 1) / 1e9 })
        expect(errorIn(await gateway.ask(poor, body))).toMatchObject({ code: 'LM-4001' })
        const slow = await gateway.key({ tpm_limit: debit - 1 })
        expect(errorIn(await gateway.ask(slow, body))).toMatchObject({ code: 'LM-4003' })
        expect(gateway.upstream.requests).toEqual([])
        await gateway.gateway.close()
      },
    ),
    { numRuns: 300 },
  )
}, 120_000)

/** A member of a body: its bytes, and how the most tolerant upstream reads its name and value. */
interface Member {
  readonly text: string
  readonly name: string
  readonly value: number
}

const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
const spellings: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => escaped(name.slice(0, 1)) + name.slice(1),
  (name) => name.replaceAll('_', escaped('_')),
  (name) => name.toUpperCase(),
  (name) => name.slice(0, 1).toUpperCase() + name.slice(1),
  (name) => escaped(name.slice(0, 1).toUpperCase()) + name.slice(1),
  // Unicode letters that Go folds to `s` and `k`.
  (name) => name.replace('s', '\u017f'),
  (name) => name.replace('k', '\u212a'),
]

const anyMember: fc.Arbitrary<Member> = fc
  .record({
    name: fc.constantFrom('max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n'),
    // Mostly plain spellings; otherwise almost every body would be refused.
    spell: fc.oneof(
      { weight: 5, arbitrary: fc.constant(spellings[0]) },
      fc.constantFrom(...spellings),
    ),
    space: fc.constantFrom('', ' ', '\n\t'),
    value: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 70_000 })),
  })
  .map(({ name, spell = spellings[0], space, value }) => ({
    text: `"${spell?.(name)}"${space}:${space}${value}`,
    name,
    value,
  }))

test('a body with misspelled or repeated bounds is refused, or reserves for its most generous reading', async () => {
  let served = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyMember, { minLength: 1, maxLength: 4 }),
      fc.nat(4),
      async (members, place) => {
        const { openai } = kinds
        const gateway = await gatewayWith([{ kind: openai, maxOutput: undefined, price: 1 }])
        gateway.upstream.always(json({ error: { message: 'no' } }, { status: 500 }))
        const texts = members.map(({ text }) => text)
        texts.splice(place, 0, '"model":"m0","messages":[{"role":"user","content":"Hi"}]')
        const ask = async ({ headers }: ClientKey) =>
          gateway.get('/v1/chat/completions', {
            method: 'POST',
            headers,
            body: `{${texts.join()}}`,
          })
        const { status } = await ask(await gateway.key())
        const [sent] = gateway.upstream.requests.splice(0)
        if (status === 400) {
          expect(sent).toBeUndefined()
          return
        }
        served++
        const forwarded = new TextDecoder().decode(sent?.body)
        for (const { text } of members) expect(forwarded).toContain(text)
        const readMax = (isMeant: (name: string) => boolean, otherwise: number) =>
          Math.max(...members.flatMap(({ name, value }) => (isMeant(name) ? value : [])), 0) ||
          otherwise
        const cost = priceTokens(
          readMax((name) => name !== 'n', assumed),
          readMax((name) => name === 'n', 1),
        )
        const poor = await ask(await gateway.key({ budget_max: (cost - 1) / 1e9 }))
        expect(poor.status).toBe(402)
        expect(gateway.upstream.requests).toEqual([])
        await gateway.gateway.close()
      },
    ),
    { numRuns: 300 },
  )
  expect(served).toBeGreaterThan(20)
}, 120_000)
