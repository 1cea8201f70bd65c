import { describe, expect, test } from 'vitest'
import { type TestGateway, testGateway } from '../support/gateway.ts'
import { json } from '../support/scripted-upstream.ts'

/*
 * What a client of another API says of thinking, as each vendor reads it.
 */

const claude = (id: string) => ['bedrock', `us.anthropic.claude-${id}-v1:0`] as const
const gemini = (id: string) => ['google', `gemini-${id}`] as const
const reasoner = ['cohere', 'command-a-reasoning-08-2025'] as const

const enabled = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } })
const adaptive = { thinking: { type: 'adaptive' } }
const off = { thinking: { type: 'disabled' } }
const at = (effort: string) => ({ output_config: { effort } })

const summarized = { type: 'adaptive', display: 'summarized' }
const levels = (thinking: object, effort: string) => ({ thinking, output_config: { effort } })
const shown = (depth: object) => ({ ...depth, includeThoughts: true })

type Row = [
  title: string,
  model: readonly [kind: string, upstreamId: string],
  fields: object,
  expected: object | undefined,
  dropped?: string,
]

const rows: readonly Row[] = [
  // Off.
  ['off', claude('opus-4-8'), off, { thinking: { type: 'disabled' } }],
  [
    'off beside an effort',
    claude('opus-4-8'),
    { ...off, ...at('max') },
    levels(off.thinking, 'max'),
  ],
  ['off beside an effort', claude('sonnet-4-5'), { ...off, ...at('max') }, off],
  ['off for a model that does not think', claude('3-haiku'), off, undefined],
  ['off for a model that always thinks', claude('opus-5-5'), off, at('low'), 'thinking'],
  [
    'off beside an effort for such a model',
    claude('opus-5-5'),
    { ...off, ...at('max') },
    at('low'),
    'thinking',
  ],
  [
    'off for a model that thinks between tools',
    claude('sonnet-5-5'),
    off,
    { thinking: { type: 'between_tools' } },
    'thinking',
  ],
  ['off', gemini('2.5-flash'), off, { thinkingBudget: 0 }],
  ['off', gemini('2.5-flash-lite'), off, { thinkingBudget: 0 }],
  ['off beside an effort', gemini('2.5-flash'), { ...off, ...at('max') }, { thinkingBudget: 0 }],
  [
    'off for a model that always thinks',
    gemini('2.5-pro'),
    off,
    { thinkingBudget: 128 },
    'thinking',
  ],
  [
    'off for a model that always thinks',
    gemini('3-flash'),
    off,
    { thinkingLevel: 'MINIMAL' },
    'thinking',
  ],
  [
    'off for a model that always thinks',
    gemini('3.1-pro'),
    { ...off, ...at('high') },
    { thinkingLevel: 'LOW' },
    'thinking',
  ],
  ['off for an image model', gemini('3-pro-image'), off, undefined, 'thinking'],
  ['off for a model that does not think', gemini('2.0-flash'), off, undefined],
  [
    'off',
    ['bedrock', 'us.amazon.nova-2-lite-v1:0'],
    off,
    { reasoningConfig: { type: 'disabled' } },
  ],
  [
    'off for a model that always thinks',
    ['bedrock', 'openai.gpt-oss-120b-1:0'],
    off,
    { reasoning_effort: 'low' },
    'thinking',
  ],
  [
    'off for a model without a word for it',
    ['bedrock', 'qwen.qwen3-32b-v1:0'],
    off,
    undefined,
    'thinking',
  ],
  [
    'off for a model that does not think',
    ['bedrock', 'us.amazon.nova-pro-v1:0'],
    { ...off, ...at('high') },
    undefined,
  ],
  ['off', reasoner, off, off],
  ['off beside an effort', reasoner, { ...off, ...at('medium') }, off],

  // A budget.
  ['a budget', claude('sonnet-4-5'), enabled(2000), enabled(2000)],
  [
    'a budget beside an effort',
    claude('opus-4-5'),
    { ...enabled(2000), ...at('low') },
    { ...enabled(2000), ...at('low') },
  ],
  ['a budget that the model still takes', claude('opus-4-6'), enabled(2000), enabled(2000)],
  ['a budget that the model refuses', claude('opus-4-7'), enabled(2000), levels(summarized, 'low')],
  [
    'a budget that the model refuses',
    claude('opus-5'),
    enabled(31_999),
    levels(summarized, 'high'),
  ],
  [
    'such a budget beside an effort',
    claude('opus-4-7'),
    { ...enabled(2000), ...at('max') },
    levels(summarized, 'max'),
  ],
  [
    'such a budget with a display',
    claude('opus-4-7'),
    { thinking: { type: 'enabled', budget_tokens: 5000, display: 'omitted' } },
    levels({ type: 'adaptive', display: 'omitted' }, 'medium'),
  ],
  [
    'a budget for a model that does not think',
    claude('3-haiku'),
    enabled(2000),
    undefined,
    'thinking',
  ],
  ['a budget', gemini('2.5-flash'), enabled(2000), shown({ thinkingBudget: 2000 })],
  [
    'a budget beside an effort',
    gemini('2.5-flash'),
    { ...enabled(2000), ...at('high') },
    shown({ thinkingBudget: 2000 }),
  ],
  [
    'a budget above the bound',
    gemini('2.5-flash'),
    enabled(31_999),
    shown({ thinkingBudget: 24_576 }),
  ],
  [
    'a budget above the bound',
    gemini('2.5-pro'),
    enabled(60_000),
    shown({ thinkingBudget: 32_768 }),
  ],
  [
    'a budget below the bound',
    gemini('2.5-flash-lite'),
    enabled(100),
    shown({ thinkingBudget: 512 }),
  ],
  [
    'a budget for a model with levels',
    gemini('3-flash'),
    enabled(5000),
    shown({ thinkingLevel: 'MEDIUM' }),
  ],
  [
    'a budget for a model that does not think',
    gemini('2.0-flash'),
    enabled(2000),
    undefined,
    'thinking',
  ],
  [
    'a budget',
    ['bedrock', 'openai.gpt-6-v1:0'],
    enabled(5000),
    { reasoning: { effort: 'medium' } },
  ],
  [
    'a budget for a model that does not think',
    ['bedrock', 'us.amazon.nova-pro-v1:0'],
    enabled(5000),
    undefined,
    'thinking',
  ],
  ['a budget', reasoner, enabled(2000), { thinking: { type: 'enabled', token_budget: 2000 } }],
  [
    'a budget for a model that does not think',
    ['cohere', 'command-a-03-2025'],
    enabled(2000),
    undefined,
    'thinking',
  ],

  // As much as the model wants.
  ['adaptive', claude('opus-4-8'), adaptive, { thinking: summarized }],
  [
    'adaptive with a display',
    claude('opus-4-8'),
    { thinking: { type: 'adaptive', display: 'omitted' } },
    { thinking: { type: 'adaptive', display: 'omitted' } },
  ],
  [
    'adaptive with an effort',
    claude('opus-4-8'),
    { ...adaptive, ...at('medium') },
    levels(summarized, 'medium'),
  ],
  ['adaptive for a model with budgets', claude('sonnet-4-5'), adaptive, enabled(4096)],
  [
    'adaptive with an effort for a model with budgets',
    claude('sonnet-4-5'),
    { ...adaptive, ...at('medium') },
    enabled(2048),
  ],
  ['adaptive for a model that does not think', claude('3-haiku'), adaptive, undefined],
  ['adaptive', gemini('2.5-flash-lite'), adaptive, shown({ thinkingBudget: -1 })],
  ['adaptive', gemini('3-flash'), adaptive, shown({})],
  [
    'adaptive with an effort',
    gemini('3-flash'),
    { ...adaptive, ...at('low') },
    shown({ thinkingLevel: 'LOW' }),
  ],
  ['adaptive for a model that does not think', gemini('2.0-flash'), adaptive, undefined],
  [
    'adaptive with an effort for such a model',
    gemini('2.0-flash'),
    { ...adaptive, ...at('low') },
    undefined,
    'output_config.effort',
  ],
  ['adaptive', ['bedrock', 'us.amazon.nova-2-lite-v1:0'], adaptive, undefined],
  ['adaptive', ['bedrock', 'openai.gpt-oss-120b-1:0'], adaptive, undefined],
  ['adaptive', reasoner, adaptive, undefined],
  [
    'adaptive with an effort',
    reasoner,
    { ...adaptive, ...at('high') },
    { thinking: { type: 'enabled' } },
  ],
  [
    'adaptive with an effort that the vendor does not have',
    reasoner,
    { ...adaptive, ...at('low') },
    undefined,
    'output_config.effort',
  ],

  // A type that one model has.
  [
    'thinking between tools',
    claude('sonnet-5-5'),
    { thinking: { type: 'between_tools' } },
    { thinking: { type: 'between_tools' } },
  ],
  [
    'thinking between tools',
    claude('opus-4-8'),
    { thinking: { type: 'between_tools' } },
    undefined,
    'thinking',
  ],
  [
    'thinking between tools',
    gemini('2.5-flash'),
    { thinking: { type: 'between_tools' } },
    undefined,
    'thinking',
  ],
]

describe('thinking of the Messages API', () => {
  test.each(rows)('%s, to %j', async (_, [kind, upstreamId], fields, expected, dropped) => {
    const body = { max_tokens: 64_000, ...fields }
    const sent = await send({ kind, upstreamId, path: '/v1/messages', body })
    expect(sent.thinking).toEqual(expected ?? (kind === 'bedrock' ? undefined : {}))
    expect(sent.dropped).toEqual(dropped === undefined ? [] : [dropped])
    const strict = await send({ kind, upstreamId, path: '/v1/messages', body, isStrict: true })
    expect(strict.isSent).toBe(dropped === undefined)
  })

  test('a budget that stands for adaptive thinking fits in the client’s limit', async () => {
    const target = { kind: 'bedrock', upstreamId: claude('sonnet-4-5')[1], path: '/v1/messages' }
    const narrow = await send({ ...target, body: { max_tokens: 3000, ...adaptive } })
    expect(narrow.thinking).toEqual(enabled(1500))
    expect(narrow.body).toMatchObject({ inferenceConfig: { maxTokens: 3000 } })
    const tiny = await send({ ...target, body: { max_tokens: 1000, ...adaptive } })
    expect(tiny.thinking).toBeUndefined()
    expect(tiny.dropped).toEqual(['thinking'])
  })

  test('a budget after calls without their thinking becomes adaptive, or is left out', async () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'x' }] },
    ]
    const body = { max_tokens: 64_000, messages, ...enabled(2000) }
    const ask = ([kind, upstreamId]: readonly [string, string]) =>
      send({ kind, upstreamId, path: '/v1/messages', body })
    const newer = await ask(claude('opus-4-6'))
    expect(newer).toMatchObject({ thinking: levels(summarized, 'low'), dropped: [] })
    const older = await ask(claude('sonnet-4-5'))
    expect(older).toMatchObject({ thinking: undefined, dropped: ['thinking'] })
  })
})

describe('reasoning.effort of the Responses API', () => {
  test.each<Row>([
    ['none', claude('opus-4-8'), { effort: 'none' }, { thinking: { type: 'disabled' } }],
    ['none', claude('opus-5-5'), { effort: 'none' }, at('low'), 'reasoning.effort'],
    ['none', gemini('2.5-flash'), { effort: 'none' }, { thinkingBudget: 0 }],
    ['none', gemini('2.5-pro'), { effort: 'none' }, { thinkingBudget: 128 }, 'reasoning.effort'],
    ['high', gemini('3-flash'), { effort: 'high' }, shown({ thinkingLevel: 'HIGH' })],
    ['none', reasoner, { effort: 'none' }, off],
  ])('%s, to %j', async (_, [kind, upstreamId], reasoning, expected, dropped) => {
    const sent = await send({ kind, upstreamId, path: '/v1/responses', body: { reasoning } })
    expect(sent.thinking).toEqual(expected)
    expect(sent.dropped).toEqual(dropped === undefined ? [] : [dropped])
  })
})

describe('a chat client', () => {
  test('has its own thinking object sent verbatim, also one that the model refuses', async () => {
    const sent = await send({
      kind: 'bedrock',
      upstreamId: claude('opus-4-8')[1],
      path: '/v1/chat/completions',
      body: enabled(2000),
    })
    expect(sent.thinking).toEqual(enabled(2000))
  })

  test('sees a thinking object dropped for other vendors', async () => {
    const [kind, upstreamId] = gemini('2.5-flash')
    const sent = await send({ kind, upstreamId, path: '/v1/chat/completions', body: off })
    expect(sent).toMatchObject({ thinking: {}, dropped: ['thinking'] })
  })

  test('may send the effort none to a strict model that always thinks', async () => {
    const [kind, upstreamId] = gemini('2.5-pro')
    const body = { reasoning_effort: 'none' }
    const sent = await send({
      kind,
      upstreamId,
      path: '/v1/chat/completions',
      body,
      isStrict: true,
    })
    expect(sent).toMatchObject({ isSent: true, dropped: [] })
  })
})

interface Asked {
  readonly kind: string
  readonly upstreamId: string
  readonly path: string
  readonly body: object
  readonly isStrict?: boolean
}

interface Sent {
  readonly isSent: boolean
  readonly body: Record<string, Record<string, unknown>>
  /** The members of the upstream's body that are about thinking. */
  readonly thinking: unknown
  readonly dropped: unknown
}

/** Sends a request, which the upstream answers with 404. */
async function send({ kind, upstreamId, path, body, isStrict = false }: Asked): Promise<Sent> {
  const { get, upstream, log } = await createGateway({ kind, upstreamId, isStrict })
  upstream.requests.length = 0
  log.length = 0
  const conversation = [{ role: 'user', content: 'Hi' }]
  const text = path === '/v1/responses' ? { input: 'Hi' } : { messages: conversation }
  await get(path, { method: 'POST', body: JSON.stringify({ model: 'm', ...text, ...body }) })
  const isSent = upstream.requests.length > 0
  // The bodies of all kinds are objects.
  const sent = (isSent ? upstream.body() : {}) as Sent['body']
  const line = log.findLast(({ message }) => message === 'fields dropped')
  return {
    isSent,
    body: sent,
    thinking: readThinking(kind, sent),
    dropped: line?.fields['fields'] ?? [],
  }
}

function readThinking(kind: string, sent: Sent['body']): unknown {
  switch (kind) {
    case 'bedrock':
      return sent['additionalModelRequestFields']
    case 'google':
      return sent['generationConfig']?.['thinkingConfig'] ?? {}
    default:
      return sent['thinking'] ? { thinking: sent['thinking'] } : {}
  }
}

const gateways = new Map<string, Promise<TestGateway>>()

function createGateway({
  kind,
  upstreamId,
  isStrict,
}: Pick<Required<Asked>, 'kind' | 'upstreamId' | 'isStrict'>): Promise<TestGateway> {
  const config = `
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
strict = ${isStrict}
models = [{ id = "m", upstream_id = "${upstreamId}" }]
`
  const known = gateways.get(config)
  if (known) return known
  const made = testGateway(config).then((gateway) => {
    gateway.upstream.always(json({ message: 'nothing here' }, { status: 404 }))
    return gateway
  })
  gateways.set(config, made)
  return made
}
