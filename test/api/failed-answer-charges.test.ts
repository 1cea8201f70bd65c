import { describe, expect, test } from 'vitest'
import { chunk, completion, done, role } from '../support/answers.ts'
import { series } from '../support/exposition.ts'
import { type FailedAnswer, failedAnswers, geminiDoor } from '../support/failed-answers.ts'
import {
  type Answer,
  type ClientKey,
  type KeyedGateway,
  keyedGateway,
  masterKey,
  readSpend,
} from '../support/keyed-gateway.ts'
import { json, type Responder, stream } from '../support/scripted-upstream.ts'

/* An answer that fails is billed by its vendor: it is counted and charged by the prices of the link that made it. */

const nine = 9 * 1_000 + 2 * 2_000
const spare = 9 * 10_000 + 2 * 20_000

/** The model `m` costs 1 and 2 dollars for a million tokens, its fallback ten times as much. */
const chainOf = ({ provider }: FailedAnswer, fallbacks = '["spare"]') => `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "p"
${provider}
models = [{ id = "m", upstream_id = "m-1", cost_per_1m_input = 1, cost_per_1m_output = 2, fallbacks = ${fallbacks} }]
[[providers]]
name = "q"
kind = "openai"
base_url = "https://q.test"
models = [{ id = "spare", cost_per_1m_input = 10, cost_per_1m_output = 20 }]
`

const env = {
  P_KEY: 'k',
  AWS_REGION: 'us-east-1',
  GATEWAY_MASTER_KEY: masterKey,
}

const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
const good: Responder = json(completion('Hello'))
const goodStream: Responder = stream([
  role + chunk({ content: 'Hello' }) + chunk({}, { usage }, 'stop') + done,
])

function askAt(
  gateway: KeyedGateway,
  key: ClientKey,
  { path, isStream }: { readonly path: string; readonly isStream: boolean },
): Promise<Answer> {
  if (path === geminiDoor) {
    const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
    const method = path.replace(':generate', ':streamGenerate')
    return isStream
      ? askStream(gateway, key, `${method}?alt=sse`, body)
      : gateway.ask(key, body, path)
  }
  const messages = [{ role: 'user', content: 'Hi' }]
  const body = path === '/v1/responses' ? { input: 'Hi' } : { messages, max_tokens: 50 }
  return isStream
    ? askStream(gateway, key, path, { model: 'm', stream: true, ...body })
    : gateway.ask(key, { model: 'm', ...body }, path)
}

async function askStream(
  { get }: KeyedGateway,
  { headers }: ClientKey,
  path: string,
  body: object,
): Promise<Answer> {
  const response = await get(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: { text } }
}

const cases = failedAnswers.flatMap((failed) =>
  failed.paths.flatMap((path) => [
    { failed, path, form: 'whole', responder: failed.whole, isStream: false },
    ...Object.entries(failed.streams).map(([form, responder]) => ({
      failed,
      path,
      form: `stream ${form}`,
      responder,
      isStream: true,
    })),
  ]),
)

describe.each(cases)('$failed.name, $form, at $path', ({ failed, path, responder, isStream }) => {
  test('is charged beside the answer of the fallback', async () => {
    const gateway = await keyedGateway(chainOf(failed), { env })
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(responder, isStream ? goodStream : good)
    expect((await askAt(gateway, key, { path, isStream })).status).toBe(200)
    expect(await gateway.rows()).toMatchObject([
      {
        status: 200,
        modelUsed: 'spare',
        tokensIn: 18,
        tokensOut: 4,
        tokensTotal: 22,
        estimated: false,
        cost: BigInt(nine + spare),
        attempts: 2,
      },
    ])
    expect(await readSpend(gateway, key.id)).toBe((nine + spare) / 1e9)
    const metrics = await (await gateway.get('/metrics')).text()
    const costs = series(metrics, 'gateway_cost_usd_total').map(({ labels, value }) => [
      labels['model'],
      value,
    ])
    expect(costs).toEqual([
      ['m', nine / 1e9],
      ['spare', spare / 1e9],
    ])
  })
})

test.each(cases.filter(({ failed, path }) => path === failed.paths[0]))(
  '$failed.name, $form, is charged where no other link answers',
  async ({ failed, path, responder, isStream }) => {
    const gateway = await keyedGateway(chainOf(failed, '[]'), { env })
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(responder)
    expect((await askAt(gateway, key, { path, isStream })).status).toBeGreaterThanOrEqual(500)
    expect(await gateway.rows()).toMatchObject([
      { modelUsed: 'm', provider: 'p', tokensIn: 9, tokensOut: 2, cost: BigInt(nine) },
    ])
  },
)

const chat = failedAnswers.find(({ name }) => name.startsWith('a finish reason of chat'))
const chatFailed = chat as FailedAnswer

describe('the budget of a request whose attempts fail and are charged', () => {
  const threeAttempts = (fallbacks?: string) =>
    chainOf(chatFailed, fallbacks).replace('retry_max_attempts = 1', 'retry_max_attempts = 3')
  /** The reservation: 8 tokens of the prompt and 50 of the output. */
  const reserved = 8 * 1_000 + 50 * 2_000
  const ask = { path: '/v1/chat/completions', isStream: false }

  test('reserves what they cost beside what the next one may cost', async () => {
    const gateway = await keyedGateway(threeAttempts('[]'), { env })
    const key = await gateway.key({ budget_max: (reserved + 2 * nine) / 1e9 })
    let seen: unknown
    gateway.upstream.next(chatFailed.whole, chatFailed.whole, async (request) => {
      seen = (await gateway.admin('GET', `/admin/keys/${key.id}`)).body['budget_reserved']
      return good(request)
    })
    const asked = askAt(gateway, key, ask)
    await gateway.clock.advance(10_000)
    expect((await asked).status).toBe(200)
    expect(seen).toBe((reserved + 2 * nine) / 1e9)
    expect(await readSpend(gateway, key.id)).toBe((3 * nine) / 1e9)
  })

  test.each(['key', 'group'])(
    'ends the request where the cap of the %s has no room',
    async (scope) => {
      const gateway = await keyedGateway(threeAttempts(), { env })
      const budget_max = (10 * reserved + nine + nine - 1) / 1e9
      const group_id = scope === 'group' ? await gateway.group({ budget_max }) : null
      const key = await gateway.key(scope === 'group' ? { group_id } : { budget_max })
      gateway.upstream.next(chatFailed.whole, chatFailed.whole)
      const asked = askAt(gateway, key, ask)
      await gateway.clock.advance(10_000)
      const { status, body } = await asked
      expect(status).toBe(502)
      expect(JSON.stringify(body)).toContain('LM-3010')
      expect(gateway.upstream.requests).toHaveLength(2)
      expect(await readSpend(gateway, key.id)).toBe((2 * nine) / 1e9)
      expect(gateway.log).toContainEqual(
        expect.objectContaining({ message: 'the budget has no room for another attempt' }),
      )
    },
  )

  test('is not needed where the vendor reports nothing', async () => {
    const gateway = await keyedGateway(threeAttempts('[]'), { env })
    const key = await gateway.key({ budget_max: reserved / 1e9 })
    const message = { role: 'assistant', content: '' }
    const silent = json(
      completion('', { choices: [{ index: 0, message, finish_reason: 'error' }] }),
    )
    gateway.upstream.next(silent, silent, good)
    const asked = askAt(gateway, key, ask)
    await gateway.clock.advance(10_000)
    expect((await asked).status).toBe(200)
    expect(await readSpend(gateway, key.id)).toBe(nine / 1e9)
  })
})

test('the header with the cost counts the attempts that failed, and the answer its own tokens', async () => {
  const gateway = await keyedGateway(chainOf(chatFailed), { env })
  const key = await gateway.key()
  gateway.upstream.next(chatFailed.whole, good)
  const { headers, body } = await askAt(gateway, key, {
    path: '/v1/chat/completions',
    isStream: false,
  })
  expect(headers.get('x-gateway-cost')).toBe('0.000143')
  expect(body['usage']).toMatchObject({ prompt_tokens: 9, completion_tokens: 2 })
})
