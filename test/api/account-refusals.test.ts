import { describe, expect, test } from 'vitest'
import { refusalRows } from '../../src/providers/refusals/table.ts'
import { completion, data, hello, role, wholeStream } from '../support/answers.ts'
import { byProvider, called, makeChain } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import { json, type Responder, stream, whole } from '../support/scripted-upstream.ts'
import { byVariable, env, listVariables, provider } from '../support/several-keys.ts'
import { streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const breaker = 'circuit_failure_threshold = 2'
const account = refusalRows.filter(({ cause }) => cause === 'account')
const texts = account.flatMap((row) => row.texts ?? [])
const codes = account.flatMap((row) => row.codes ?? [])

const ask = (content: unknown = 'Hi') => ({ model: 'm', messages: [{ role: 'user', content }] })

/** Sends a request to `m`, which falls back to `m2` at another provider. Returns the providers called. */
async function callsAfter(responder: Responder, body: unknown = ask()): Promise<readonly string[]> {
  const gateway = await watchedGateway(makeChain([{}, {}], breaker))
  const isStream = (body as { stream?: boolean }).stream
  byProvider(gateway.upstream, {
    p: responder,
    p2: isStream ? stream([wholeStream]) : json(completion()),
  })
  await (await gateway.chat(body)).text()
  return called(gateway.upstream)
}

const refuseWith = (message: string, status = 400, more: object = {}) =>
  json({ error: { message, type: 'invalid_request_error', ...more } }, { status })

/** Vendors' own answers: what it is, the status, the body. */
const answers: readonly (readonly [string, number, object])[] = [
  [
    'Claude, no balance',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      },
    },
  ],
  [
    'Claude, the limit of a workspace',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC.',
      },
    },
  ],
  [
    'OpenAI, the hard limit',
    400,
    {
      error: {
        message: 'Billing hard limit has been reached',
        type: 'billing_limit_user_error',
        param: null,
        code: 'billing_hard_limit_reached',
      },
    },
  ],
  [
    'OpenAI, the quota',
    429,
    {
      error: {
        message:
          'You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.',
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      },
    },
  ],
  [
    'Kimi, behind OpenRouter',
    429,
    {
      error: {
        message: 'Provider returned error',
        code: 429,
        metadata: {
          raw: '{"error":{"message":"Your account org-1 <ak-1> is suspended due to insufficient balance, please recharge your account or check your plan and billing details","type":"exceeded_current_quota_error"}}',
          provider_name: 'Moonshot AI',
        },
      },
    },
  ],
  [
    'Z.ai',
    429,
    {
      error: {
        code: '1113',
        message: 'Insufficient balance or no resource package. Please recharge.',
      },
    },
  ],
  ['Z.ai in Chinese', 429, { error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } }],
  [
    'DashScope, flat',
    400,
    {
      code: 'Arrearage',
      message: 'Access denied, please make sure your account is in good standing.',
    },
  ],
  [
    'xAI',
    429,
    {
      code: 'x',
      error:
        'Your team 1 has either used all available credits or reached its monthly spending limit.',
    },
  ],
  [
    'Fireworks',
    412,
    {
      error: {
        message:
          'Account a is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.',
        code: 'PRECONDITION_FAILED',
        type: 'error',
      },
    },
  ],
  [
    'Gemini, no balance',
    429,
    {
      error: {
        code: 429,
        message:
          'Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects to manage your project and billing.',
        status: 'RESOURCE_EXHAUSTED',
      },
    },
  ],
  [
    'Gemini, the cap of a project',
    429,
    {
      error: {
        code: 429,
        message:
          'Your project has exceeded its monthly spending cap. Please go to AI Studio at https://ai.studio/spend to manage your project spend cap.',
        status: 'RESOURCE_EXHAUSTED',
      },
    },
  ],
]

describe('a refusal of the account with a status that blames the request', () => {
  test.each(answers)('is a 402 for a lone key: %s', async (_, status, body) => {
    const gateway = await watchedGateway(makeChain([{}], breaker))
    gateway.upstream.always(json(body, { status, headers: { 'retry-after': '1' } }))
    for (const _time of [1, 2]) {
      const response = await gateway.chat(ask())
      expect([response.status, response.headers.get('retry-after')]).toEqual([502, null])
      const error = await expectErrorShape(response)
      expect(error).toMatchObject({ code: 'LM-3003', upstream: { status } })
      const { error: inner, message: flat } = body as { error?: unknown; message?: string }
      const words =
        typeof inner === 'string' ? inner : (flat ?? (inner as { message: string }).message)
      expect(error.message).toContain(words.slice(0, 80))
    }
    // Two of them open the circuit, and no call was a retry.
    expect(gateway.upstream.requests).toHaveLength(2)
    expect((await expectErrorShape(await gateway.chat(ask()))).code).toBe('LM-3020')
  })

  test.each(answers)('goes on to the next link at once: %s', async (_, status, body) => {
    expect(await callsAfter(json(body, { status }))).toEqual(['p', 'p2'])
  })

  test.each(answers)('parks one of several keys: %s', async (_, status, body) => {
    const gateway = await watchedGateway(provider(), { env })
    byVariable(gateway.upstream, { A: json(body, { status }) })
    for (let at = 0; at < 3; at++) expect((await gateway.chat(ask())).status).toBe(200)
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B', 'B', 'B'])
  })

  test.each(texts)('by its words, in any case and with other numbers: %s', async (text) => {
    for (const number of ['7', '65,536', '123456789']) {
      const words = text.replaceAll('#', number)
      for (const said of [words, words.toUpperCase(), `x: ${words.replaceAll(' ', '  ')}.`]) {
        expect(await callsAfter(refuseWith(said))).toEqual(['p', 'p2'])
      }
    }
  })

  test.each(codes)('by its code or type, also where the request has it: %s', async (code) => {
    const body = ask(`what is ${code}?`)
    for (const status of [400, 429, 500]) {
      for (const said of [code, code.toUpperCase()]) {
        const calls = [
          await callsAfter(refuseWith('no', status, { code: said }), body),
          await callsAfter(refuseWith('no', status, { type: said }), body),
        ]
        expect(calls).toEqual([
          ['p', 'p2'],
          ['p', 'p2'],
        ])
      }
    }
    // A number in a message may be anything.
    const isNumber = /^\d+$/.test(code)
    expect(await callsAfter(refuseWith(`no: ${code}`))).toEqual(isNumber ? ['p'] : ['p', 'p2'])
  })

  test('of embeddings and rankings', async () => {
    for (const [capability, path, body] of [
      ['embed', '/v1/embeddings', { input: 'x' }],
      ['rerank', '/v1/rerank', { query: 'q', documents: ['d'] }],
    ] as const) {
      const link = { kind: 'jina', model: `capabilities = ["${capability}"]` }
      const gateway = await watchedGateway(makeChain([link, link], breaker))
      gateway.upstream.always(refuseWith('Insufficient account balance'))
      const response = await gateway.get(path, {
        method: 'POST',
        body: JSON.stringify({ model: 'm', ...body }),
      })
      expect(response.status).toBe(503)
      expect(called(gateway.upstream)).toEqual(['p', 'p2'])
    }
  })

  test('in a stream before its first content, and in an answer with status 200', async () => {
    const error = { message: 'Insufficient Balance', code: 'x' }
    for (const responder of [
      stream([data({ error })]),
      stream([role, data({ error })]),
      stream([data({ error: { ...error, type: 'invalid_request_error' } })]),
    ]) {
      expect(await callsAfter(responder, streamed())).toEqual(['p', 'p2'])
    }
    expect(await callsAfter(json({ error }))).toEqual(['p', 'p2'])
    expect(await callsAfter(whole('Insufficient Balance', { status: 400 }))).toEqual(['p', 'p2'])
  })

  test('not in a stream after its first content', async () => {
    const error = { message: 'Insufficient Balance', code: 'x' }
    expect(await callsAfter(stream([role + hello, data({ error })]), streamed())).toEqual(['p'])
  })
})

describe('words of the table in a request', () => {
  const quote = (words: string) => refuseWith(`Invalid value: '${words}'. Use another one.`)

  test.each(texts)('do not count: %s', async (text) => {
    const words = text.replaceAll('#', '4053')
    for (const content of [
      words,
      words.toUpperCase(),
      words.replaceAll(' ', '\n\t'),
      [{ type: 'text', text: `see "${words}"` }],
      JSON.stringify({ quoted: words.replaceAll(' ', '\n') }),
    ]) {
      expect(await callsAfter(quote(words), ask(content))).toEqual(['p'])
    }
    const escaped = Array.from(words, (letter) => {
      const hex = letter.charCodeAt(0).toString(16)
      return `\\u${hex.padStart(4, '0')}`
    })
    const raw = `{"model":"m","messages":[{"role":"user","content":"${escaped.join('')}"}]}`
    const gateway = await watchedGateway(makeChain([{}, {}], breaker))
    byProvider(gateway.upstream, { p: quote(words), p2: json(completion()) })
    expect((await gateway.chat(raw)).status).toBe(400)
    expect(called(gateway.upstream)).toEqual(['p'])
  })

  test('do not count in a header that is passed on', async () => {
    const words = 'credit balance is too low'
    const gateway = await watchedGateway(
      makeChain([{ kind: 'anthropic', settings: '' }, {}], breaker),
    )
    byProvider(gateway.upstream, {
      p: refuseWith(`Unexpected value(s) \`${words}\` for the \`anthropic-beta\` header.`),
      p2: json(completion()),
    })
    const response = await gateway.get('/v1/messages', {
      method: 'POST',
      headers: { 'anthropic-beta': words, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ ...ask(), max_tokens: 9 }),
    })
    expect(response.status).toBe(400)
    expect(called(gateway.upstream)).toEqual(['p'])
  })

  test('count when the request has other words of the table', async () => {
    const body = ask('what does "insufficient balance" mean?')
    expect(await callsAfter(refuseWith('Your credit balance is too low.'), body)).toEqual([
      'p',
      'p2',
    ])
  })
})

describe('words about something else', () => {
  test.each([
    'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.',
    'You exceeded your current quota of 20 requests per minute',
    'You exceeded your current quota: rate limit',
  ])('a rate limit stays one: %s', async (message) => {
    for (const kind of ['openai', 'google']) {
      const gateway = await watchedGateway(makeChain([{ kind }], 'retry_max_attempts = 1'))
      gateway.upstream.always(
        json(
          { error: { code: 429, message, status: 'RESOURCE_EXHAUSTED' } },
          { status: 429, headers: { 'retry-after': '4' } },
        ),
      )
      const response = await gateway.chat(ask())
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '4'])
      expect((await expectErrorShape(response)).code).toBe('LM-3001')
    }
  })

  const quota = 'You exceeded your current quota, please check your plan and billing details.'

  test.each<[string, object | readonly object[]]>([
    ['Gemini', { error: { code: 429, message: quota, status: 'RESOURCE_EXHAUSTED' } }],
    [
      'Gemini behind its OpenAI layer',
      [{ error: { code: 429, message: quota, status: 'RESOURCE_EXHAUSTED' } }],
    ],
    [
      'Gemini behind a proxy',
      {
        error: {
          code: '429',
          type: 'throttling_error',
          message: `GeminiException - {"error":{"code":429,"message":"${quota}","status":"RESOURCE_EXHAUSTED"}}`,
        },
      },
    ],
    ['by its code', { error: { code: 'rate_limit_exceeded', message: quota } }],
    ['by its type', { error: { type: 'rate_limit_error', message: quota } }],
    ['in upper case', { error: { code: 'RATE_LIMIT_EXCEEDED', message: quota.toUpperCase() } }],
    ['Kimi', { error: { code: 'rate_limit_exceeded', message: 'You exceeded current quota' } }],
  ])('a rate limit stays one by its code: %s', async (_, body) => {
    for (const kind of ['openai', 'google']) {
      const gateway = await watchedGateway(makeChain([{ kind }], 'retry_max_attempts = 1'))
      gateway.upstream.always(json(body, { status: 429, headers: { 'retry-after': '4' } }))
      const response = await gateway.chat(ask())
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '4'])
      expect((await expectErrorShape(response)).code).toBe('LM-3001')
    }
  })

  test('a code of the account counts beside one of a rate limit', async () => {
    const error = { code: 'insufficient_quota', type: 'rate_limit_error', message: quota }
    expect(await callsAfter(json({ error }, { status: 429 }))).toEqual(['p', 'p2'])
    const gateway = await watchedGateway(makeChain([{}], breaker))
    gateway.upstream.always(json({ error }, { status: 429 }))
    expect((await expectErrorShape(await gateway.chat(ask()))).code).toBe('LM-3003')
  })

  test('a request that is at fault stays so', async () => {
    for (const message of ['balance the load', 'quota', 'credit card numbers are refused']) {
      expect(await callsAfter(refuseWith(message))).toEqual(['p'])
    }
  })
})
