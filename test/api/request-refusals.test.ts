import { describe, expect, test } from 'vitest'
import { refusalRows } from '../../src/providers/refusals/table.ts'
import { data, hello, role } from '../support/answers.ts'
import { oneProvider, readError, testGateway } from '../support/gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'

type Case = readonly [name: string, status: number, error: object]

/** What vendors answer to a prompt that is too long, in the words of each. */
const tooLong: readonly Case[] = [
  [
    'OpenAI',
    400,
    {
      code: 'context_length_exceeded',
      message: 'Your input exceeds the context window of this model',
    },
  ],
  [
    'OpenAI, configured limit',
    400,
    {
      message:
        'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 310004 tokens.',
    },
  ],
  [
    'vLLM',
    400,
    {
      message:
        "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens.",
    },
  ],
  [
    'SGLang',
    400,
    { message: "The input (9001 tokens) is longer than the model's context length (8192 tokens)." },
  ],
  [
    'Mistral',
    400,
    {
      message:
        'Prompt contains 9001 tokens and 0 draft tokens, too large for model with 8192 maximum context length',
    },
  ],
  [
    'xAI',
    400,
    {
      code: 'invalid-argument',
      message:
        "This model's maximum prompt length is 131072 but the request contains 140004 tokens.",
    },
  ],
  [
    'xAI, other words',
    400,
    { message: 'Prompt exceeds the maximum prompt length of 131072 tokens' },
  ],
  ['Groq', 400, { message: 'Please reduce the length of the messages or completion.' }],
  [
    'Cerebras',
    400,
    { message: 'Please reduce the length. Current length is 9001 while limit is 8192' },
  ],
  [
    'Kimi',
    400,
    {
      type: 'invalid_request_error',
      message:
        'Invalid request: Your request exceeded model token limit: 262144 (requested: 300004)',
    },
  ],
  ['Z.ai', 400, { code: '1261', message: 'Prompt exceeds max length' }],
  ['Z.ai, by its code', 400, { code: '1261', message: 'no' }],
  [
    'MiniMax',
    400,
    { code: '2013', message: 'invalid params, context window exceeds limit (2013)' },
  ],
  [
    'DashScope',
    400,
    { code: 'InvalidParameter', message: 'Range of input length should be [1, 129024]' },
  ],
  [
    'Ark',
    400,
    {
      code: 'InvalidParameter',
      message: 'Total tokens of image and text exceed max message tokens',
    },
  ],
  [
    'Gemini',
    400,
    {
      message:
        'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    },
  ],
  [
    'llama.cpp',
    500,
    {
      type: 'exceed_context_size_error',
      message:
        'request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it',
      n_ctx: 8192,
    },
  ],
  ['Ollama', 400, { message: 'The prompt is too long: 9001, model maximum context length: 8192' }],
  [
    'LM Studio',
    400,
    {
      message:
        'The number of tokens to keep from the initial prompt is greater than the context length',
    },
  ],
  ['Copilot', 400, { message: 'prompt token count of 90001 exceeds the limit of 64000' }],
  [
    'GitHub Models',
    413,
    {
      code: 'tokens_limit_reached',
      message: 'Request body too large for gpt-4o model. Max size: 8000 tokens.',
    },
  ],
  ['TGI', 422, { message: '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000' }],
  ['Claude', 400, { message: 'prompt is too long: 208310 tokens > 200000 maximum' }],
  [
    'Claude, with its output',
    400,
    { message: 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000' },
  ],
  ['a proxy', 413, { message: 'Payload Too Large' }],
]

/** What vendors answer when their filter refuses the content. */
const filtered: readonly Case[] = [
  [
    'Azure',
    400,
    {
      code: 'content_filter',
      message: 'The response was filtered',
      innererror: { code: 'ResponsibleAIPolicyViolation' },
    },
  ],
  [
    'Azure, by the inner code',
    400,
    { code: 'bad_request', message: 'no', innererror: { code: 'ResponsibleAIPolicyViolation' } },
  ],
  ['OpenAI, policy', 400, { code: 'content_policy_violation', message: 'no' }],
  ['OpenAI, prompt', 400, { code: 'invalid_prompt', message: 'no' }],
  ['DeepSeek', 400, { message: 'Content Exists Risk' }],
  [
    'Kimi',
    400,
    {
      type: 'content_filter',
      message: 'The request was rejected because it was considered high risk',
    },
  ],
  [
    'DashScope',
    400,
    { code: 'data_inspection_failed', message: 'Input data may contain inappropriate content.' },
  ],
  ['DashScope, other case', 400, { code: 'DataInspectionFailed', message: 'no' }],
  ['Z.ai', 400, { code: '1301', message: 'no' }],
  ['MiniMax, input', 400, { code: 1026, message: 'no' }],
  ['MiniMax, output', 400, { code: 1027, message: 'no' }],
  ['Ark', 400, { code: 'InputTextSensitiveContentDetected', message: 'no' }],
  ['Ark, output', 400, { code: 'OutputTextSensitiveContentDetected', message: 'no' }],
  ['Ark, severe', 400, { code: 'SensitiveContentDetected.SevereViolation', message: 'no' }],
  [
    'OpenRouter',
    403,
    { message: 'Your chosen model requires moderation and your input was flagged for "violence"' },
  ],
]

const cases = [
  ...tooLong.map((one) => ['LM-2012', ...one] as const),
  ...filtered.map((one) => ['LM-2013', ...one] as const),
]

const ask = (content = 'Hi', more: object = {}) => ({
  model: 'm',
  messages: [{ role: 'user', content }],
  ...more,
})

const renumber = (text: string) => text.replace(/\d+/g, '77777')

const inCapitals = (error: object): object =>
  Object.fromEntries(
    Object.entries(error).map(([name, value]) => [
      name,
      name === 'message' ? renumber(String(value)).toUpperCase() : value,
    ]),
  )

/** The error that a client gets when the upstream answers with this one, and the number of calls. */
async function refusedWith(
  status: number,
  error: object,
  body: object = ask(),
  path = '/v1/chat/completions',
) {
  const { get, upstream } = await testGateway(oneProvider)
  upstream.next(json({ error }, { status }))
  const response = await get(path, { method: 'POST', body: JSON.stringify(body) })
  return { response, error: await readError(response), calls: upstream.requests.length }
}

test.each(cases)('%s: %s', async (code, _, status, error) => {
  for (const sent of [error, inCapitals(error)]) {
    const { response, error: got, calls } = await refusedWith(status, sent)
    const { message } = sent as { message: string }
    expect(response.status).toBe(400)
    expect(got).toMatchObject({ code, type: 'invalid_request', upstream: { status, message } })
    expect(got['message']).toContain(message)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(calls, 'it is not tried again').toBe(1)
  }
})

test.each([
  [
    'its error is a text',
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 140004 tokens.",
    },
  ],
  [
    'its error is in details',
    {
      detail:
        "This model's maximum prompt length is 131072 but the request contains 140004 tokens.",
    },
  ],
])('xAI says that a prompt is too long where %s', async (_, body) => {
  for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/responses']) {
    const { get, upstream } = await testGateway(
      oneProvider.replace('kind = "openai"', 'kind = "xai"').replace(/base_url.*/, ''),
    )
    upstream.next(json(body, { status: 400 }))
    const asked = path.endsWith('responses')
      ? { model: 'm', input: 'Hi' }
      : ask('Hi', { max_tokens: 9 })
    const response = await get(path, { method: 'POST', body: JSON.stringify(asked) })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('LM-2012')
    expect(upstream.requests).toHaveLength(1)
  }
})

const coded = new Set(
  refusalRows.flatMap(({ codes = [] }) => codes.map((one) => one.toLowerCase().replace('*', ''))),
)
const worded = cases.filter(([, , status, error]) => {
  const { code, type, innererror } = error as Record<string, unknown>
  const names = [code, type].map((one) => String(one ?? '').toLowerCase())
  return (
    status === 400 &&
    !innererror &&
    !names.some((one) => [...coded].some((known) => one.startsWith(known) && known !== ''))
  )
})

test.each(worded)(
  '%s: the words of %s do not count when the request has them',
  async (code, _, status, error) => {
    const { message } = error as { message: string }
    const { error: got } = await refusedWith(status, error, ask(`It said: ${message}`))
    expect(got['code']).not.toBe(code)
  },
)

test('a code counts even when the request has it', async () => {
  const error = { code: 'context_length_exceeded', message: 'maximum context length is 9' }
  const { error: got } = await refusedWith(
    400,
    error,
    ask('context_length_exceeded maximum context length is 8'),
  )
  expect(got['code']).toBe('LM-2012')
})

test.each<[string, number, object]>([
  [
    'tokens a minute',
    413,
    {
      code: 'rate_limit_exceeded',
      message: 'Request too large: tokens per minute (TPM): Limit 6000, Requested 9000',
    },
  ],
  ['a rate limit', 413, { message: 'Rate limit reached' }],
  ['a rate', 413, { message: 'the token rate is too high' }],
  ['words beside a rate limit', 400, { message: 'rate limit: maximum context length is 8 tokens' }],
  ['a long text', 400, { code: 'string_above_max_length', message: 'string too long' }],
  ['a length without a bound', 400, { message: 'the maximum prompt length is set by your team' }],
  ['the length of a name', 400, { message: 'the maximum prompt name length is 64' }],
  [
    'prompts a minute',
    400,
    { message: 'rate limit: the maximum prompt length is 5000 tokens per minute' },
  ],
  ['a number like a code', 400, { message: 'seed 1301 and 1261 are not allowed' }],
])('%s is another refusal', async (_, status, error) => {
  const { error: got } = await refusedWith(status, error)
  expect(got['code']).toBe('LM-3003')
})

test('clients of the Messages API get the words on which they act', async () => {
  const body = ask('Hi', { max_tokens: 9 })
  const context = await refusedWith(
    400,
    { message: 'Prompt exceeds max length' },
    body,
    '/v1/messages',
  )
  expect(context.error).toMatchObject({ type: 'invalid_request_error', code: 'LM-2012' })
  expect(context.error['message']).toMatch(/^prompt is too long: .*Prompt exceeds max length/)
  const filter = await refusedWith(400, { message: 'Content Exists Risk' }, body, '/v1/messages')
  expect(filter.error).toMatchObject({ type: 'invalid_request_error', code: 'LM-2013' })
})

test('clients of the Responses API get the codes of OpenAI', async () => {
  const config = oneProvider.replace('kind = "openai"', 'kind = "openai"\nresponses = false')
  for (const [message, code, own] of [
    ['Prompt exceeds max length', 'context_length_exceeded', 'LM-2012'],
    ['Content Exists Risk', 'content_filter', 'LM-2013'],
  ]) {
    const { get, upstream } = await testGateway(config)
    upstream.next(json({ error: { message } }, { status: 400 }))
    const body = JSON.stringify({ model: 'm', input: 'Hi', store: false })
    const response = await get('/v1/responses', { method: 'POST', body })
    expect(await readError(response)).toMatchObject({ code, gateway_code: own })
  }
})

describe.each([
  ['LM-2012', { message: 'Prompt exceeds max length' }],
  ['LM-2013', { code: '1301', message: 'no' }],
])('%s in a stream', (code, error) => {
  test('is the answer before the commit', async () => {
    const { chat, upstream } = await testGateway(oneProvider)
    upstream.next(stream([role, data({ error })]))
    const response = await chat(ask('Hi', { stream: true }))
    expect(response.status).toBe(400)
    expect(await readError(response)).toMatchObject({ code })
    expect(upstream.requests).toHaveLength(1)
  })

  test('is the last frame after the commit, and opens no circuit', async () => {
    const config = `[resilience]\ncircuit_failure_threshold = 1\n${oneProvider}`
    const { chat, upstream } = await testGateway(config)
    for (let turn = 0; turn < 2; turn++) {
      upstream.next(stream([role, hello, data({ error })]))
      const text = await (await chat(ask('Hi', { stream: true }))).text()
      expect(text).toContain(`"code":"${code}"`)
      expect(text).not.toContain('[DONE]')
    }
  })

  test('is known by its code alone when the request had the words', async () => {
    const { chat, upstream } = await testGateway(oneProvider)
    upstream.next(stream([role, hello, data({ error })]))
    const text = await (await chat(ask(String(error.message), { stream: true }))).text()
    expect(text).toContain('code' in error ? code : 'LM-3010')
  })
})

test.each([
  ['/v1/embeddings', { model: 'e', input: 'Hi' }],
  ['/v1/completions', { model: 'm', prompt: 'Hi' }],
])('%s has the same code', async (path, body) => {
  const config = `${oneProvider}\n[[providers.models]]\nid = "e"\ncapabilities = ["embed"]\n`
  const { get, upstream } = await testGateway(config)
  upstream.next(
    json(
      { error: { message: "This model's maximum context length is 512 tokens" } },
      { status: 400 },
    ),
  )
  const response = await get(path, { method: 'POST', body: JSON.stringify(body) })
  expect(await readError(response)).toMatchObject({ code: 'LM-2012' })
})
