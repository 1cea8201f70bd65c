import { describe, expect, test } from 'vitest'
import { chunk, completion, data, done, hello, makeChunk, role, stop } from '../support/answers.ts'
import { awsEvent } from '../support/aws-event-stream.ts'
import { keyedGateway, masterKey, pricedProvider, prompt } from '../support/keyed-gateway.ts'
import { json, type Responder, stream, whole } from '../support/scripted-upstream.ts'
import { streamed } from '../support/stream-client.ts'

/*
 * What answers say of their bill, besides the tokens, is kept in the rows of the usage log.
 */

const counts = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }

const ofKind = (kind: string) => pricedProvider.replace('kind = "openai"', `kind = "${kind}"`)

interface Case {
  readonly kind?: string
  readonly path?: string
  readonly ask?: object
  readonly answer: Responder
  /** The name of the model at its vendor. */
  readonly model?: string
  readonly row: object
}

async function readRow(given: Case): Promise<unknown> {
  const { kind = 'openai', path, ask = prompt(), answer, model = 'upstream-m' } = given
  const gateway = await keyedGateway(ofKind(kind).replace('upstream-m', model), {
    env: { P_KEY: 'k', GATEWAY_MASTER_KEY: masterKey, AWS_REGION: 'us-east-1' },
  })
  const key = await gateway.key({ budget_max: 1 })
  gateway.upstream.next(answer)
  const request = { method: 'POST', body: JSON.stringify(ask), headers: key.headers }
  const response = await gateway.get(path ?? '/v1/chat/completions', request)
  await response.text()
  expect(response.status).toBe(200)
  const [row] = await gateway.rows()
  return row
}

const claude = (usage: object) => ({ content: [{ type: 'text', text: 'Hi' }], usage })
const claudeCounts = { input_tokens: 100, output_tokens: 20 }
const gemini = (usageMetadata: object, more: object = {}) => ({
  candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP', ...more }],
  usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, ...usageMetadata },
})
const response = (usage: object, more: object = {}) => ({
  status: 'completed',
  output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }],
  usage: { input_tokens: 100, output_tokens: 20, ...usage },
  ...more,
})
const ask = { model: 'm', input: 'Hi' }
const converse = {
  output: { message: { content: [{ text: 'Hi' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 100, outputTokens: 20 },
}

/** The beginning of a streamed response that was asked for with `auto`. */
const begun = (tier: string) => [
  data({ type: 'response.created', response: { status: 'queued', service_tier: 'auto' } }),
  data({ type: 'response.in_progress', response: { status: 'in_progress', service_tier: tier } }),
  data({ type: 'response.output_text.delta', item_id: 'i', output_index: 0, delta: 'Hi' }),
]

const cases: Readonly<Record<string, Case>> = {
  'the tier of a whole answer of the OpenAI format': {
    answer: json(completion('Hi', { usage: counts, service_tier: 'priority' })),
    row: {
      tier: 'priority',
      costSource: 'calculated',
      cacheWriteLongTokens: 0,
      costReported: null,
    },
  },
  'the default tier, by another name': {
    answer: json(completion('Hi', { usage: counts, service_tier: 'default' })),
    row: { tier: 'standard' },
  },
  'a tier that is not a name': {
    answer: json(completion('Hi', { usage: counts, service_tier: 'a b\n' })),
    row: { tier: null },
  },
  'the tier of a stream, in chunks before that of the usage': {
    ask: streamed(),
    answer: stream([
      role,
      chunk({ content: 'Hi' }, { service_tier: 'flex' }),
      stop,
      makeChunk({ choices: [], usage: counts }),
      done,
    ]),
    row: { tier: 'flex', tokensIn: 100 },
  },
  'audio and images of the OpenAI format': {
    answer: json(
      completion('Hi', {
        usage: {
          ...counts,
          prompt_tokens_details: { audio_tokens: 30, image_tokens: 40 },
          completion_tokens_details: { audio_tokens: 5, image_tokens: 6 },
        },
      }),
    ),
    row: { audioTokensIn: 30, imageTokensIn: 40, audioTokensOut: 5, imageTokensOut: 6 },
  },
  'the bill of xAI, rounded up, and its tools': {
    answer: json(
      completion('Hi', {
        usage: {
          ...counts,
          cost_in_usd_ticks: 12_345,
          server_side_tool_usage_details: { web_search_calls: 2, x_search_calls: 1, mcp_calls: 9 },
        },
      }),
    ),
    row: { costReported: 1_235n, toolCalls: { web_search: 2, x_search: 1 } },
  },
  'the bill of OpenRouter': {
    answer: json(completion('Hi', { usage: { ...counts, cost: 0.00014, cost_details: {} } })),
    row: { costReported: 140_000n },
  },
  'the bill of OpenRouter with a key of the customer': {
    answer: json(
      completion('Hi', {
        usage: {
          ...counts,
          cost: 0.0001,
          is_byok: true,
          cost_details: { upstream_inference_cost: 0.002 },
        },
      }),
    ),
    row: { costReported: 2_100_000n },
  },
  'the bill of Perplexity, rounded up': {
    answer: json(completion('Hi', { usage: { ...counts, cost: { total_cost: 0.0060000001 } } })),
    row: { costReported: 6_000_001n },
  },
  'a cost in an unknown form': {
    answer: json(completion('Hi', { usage: { ...counts, cost: 3 } })),
    row: { costReported: null },
  },
  'the tier, the long writes and the searches of a response': {
    path: '/v1/responses',
    ask,
    answer: json(
      response(
        {
          input_tokens_details: {
            cached_tokens: 0,
            cache_write_tokens: 60,
            cache_write_tokens_details: { ttl_12h_tokens: 50 },
          },
        },
        { service_tier: 'priority', tool_usage: { web_search: { num_requests: 3 } } },
      ),
    ),
    row: {
      tier: 'priority',
      cacheWriteTokens: 60,
      cacheWriteLongTokens: 50,
      toolCalls: { web_search: 3 },
    },
  },
  'the searches among the items of a streamed response': {
    path: '/v1/responses',
    ask: { ...ask, stream: true },
    answer: stream([
      data({
        type: 'response.completed',
        response: response(
          {},
          {
            service_tier: 'flex',
            output: [
              { type: 'web_search_call', action: { type: 'search' } },
              { type: 'web_search_call', action: { type: 'open_page' } },
              { type: 'file_search_call' },
            ],
          },
        ),
      }),
    ]),
    row: { tier: 'flex', toolCalls: { web_search: 1, file_search: 1 } },
  },
  'the containers that code of a response has run in': {
    path: '/v1/responses',
    ask,
    answer: json(
      response(
        {},
        {
          output: [
            { type: 'code_interpreter_call', container_id: 'cntr_1' },
            { type: 'code_interpreter_call', container_id: 'cntr_1' },
            { type: 'code_interpreter_call', container_id: 'cntr_2' },
          ],
        },
      ),
    ),
    row: { toolCalls: { code_execution: 2 } },
  },
  'the container of Claude': {
    kind: 'anthropic',
    answer: json({ ...claude(claudeCounts), container: { id: 'container_1' } }),
    row: { toolCalls: { code_execution: 1 } },
  },
  'no container of Claude': {
    kind: 'anthropic',
    answer: json({ ...claude(claudeCounts), container: null }),
    row: { toolCalls: null },
  },
  ...Object.fromEntries(
    ['/v1/chat/completions', '/v1/messages'].map((path): [string, Case] => [
      `the container of Claude at the end of a stream, at ${path}`,
      {
        kind: 'anthropic',
        path,
        ask: { ...prompt(), max_tokens: 9, stream: true },
        answer: stream([
          `event: message_start\n${data({ type: 'message_start', message: { usage: claudeCounts } })}`,
          `event: content_block_start\n${data({
            type: 'content_block_start',
            index: 0,
            content_block: { type: 'text', text: '' },
          })}`,
          `event: content_block_delta\n${data({
            type: 'content_block_delta',
            index: 0,
            delta: { type: 'text_delta', text: 'Hi' },
          })}`,
          `event: content_block_stop\n${data({ type: 'content_block_stop', index: 0 })}`,
          `event: message_delta\n${data({
            type: 'message_delta',
            delta: { stop_reason: 'end_turn', container: { id: 'container_1' } },
            usage: { output_tokens: 20 },
          })}`,
          `event: message_stop\n${data({ type: 'message_stop' })}`,
        ]),
        row: { toolCalls: { code_execution: 1 } },
      },
    ]),
  ),
  'what Gemini has found on Maps, and the code that it has run': {
    kind: 'google',
    answer: json(
      gemini(
        {},
        {
          content: {
            parts: [
              { executableCode: { language: 'PYTHON', code: '1+1' } },
              { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } },
              { text: 'Hi' },
            ],
          },
          groundingMetadata: {
            groundingChunks: [{ maps: { title: 'a' } }, { maps: { title: 'b' } }],
          },
        },
      ),
    ),
    row: { toolCalls: { maps: 1, code_execution: 1 } },
  },
  ...Object.fromEntries(
    ['/v1/chat/completions', '/v1beta/models/m:streamGenerateContent?alt=sse'].map(
      (path): [string, Case] => [
        `the tools of several candidates of a stream of Gemini, at ${path}`,
        {
          kind: 'google',
          path,
          ask: path.startsWith('/v1beta')
            ? { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
            : streamed(),
          answer: stream([
            data(
              gemini(
                {},
                {
                  finishReason: undefined,
                  content: { parts: [{ executableCode: { code: '1' } }] },
                },
              ),
            ),
            data(
              gemini(
                {},
                {
                  index: 0,
                  groundingMetadata: { webSearchQueries: ['a'], groundingChunks: [{ maps: {} }] },
                },
              ),
            ),
            data(gemini({}, { index: 1, groundingMetadata: { webSearchQueries: ['b', 'c'] } })),
          ]),
          model: 'gemini-3.5-pro',
          row: { toolCalls: { web_search: 3, maps: 1, code_execution: 1 } },
        },
      ],
    ),
  ),
  'the service of Claude': {
    kind: 'anthropic',
    answer: json(
      claude({
        ...claudeCounts,
        service_tier: 'priority',
        inference_geo: 'us',
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_1h_input_tokens: 10 },
        server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
      }),
    ),
    row: {
      tier: 'priority',
      geo: 'us',
      cacheWriteLongTokens: 10,
      toolCalls: { web_search: 2, web_fetch: 1 },
    },
  },
  'the fast mode of Claude through its own API, streamed': {
    kind: 'anthropic',
    path: '/v1/messages',
    ask: { ...prompt(), max_tokens: 9, stream: true },
    answer: stream([
      `event: message_start\n${data({
        type: 'message_start',
        message: {
          usage: { ...claudeCounts, service_tier: 'standard', speed: 'fast', inference_geo: null },
        },
      })}`,
      `event: content_block_delta\n${data({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: 'Hi' },
      })}`,
      `event: message_delta\n${data({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: 20 },
      })}`,
      `event: message_stop\n${data({ type: 'message_stop' })}`,
    ]),
    row: { tier: 'fast', geo: null, tokensIn: 100, tokensOut: 20 },
  },
  'a run of Claude on a model that is not known': {
    kind: 'anthropic',
    answer: json(
      claude({ ...claudeCounts, iterations: [claudeCounts, { ...claudeCounts, model: 'other' }] }),
    ),
    row: { tokensIn: 200, costSource: 'approximate' },
  },
  'the tier in the header of the Gemini API, and its modalities': {
    kind: 'google',
    answer: json(
      gemini({
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 10 },
          { modality: 'AUDIO', tokenCount: 90 },
        ],
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 12 }],
      }),
      { headers: { 'x-gemini-service-tier': 'flex' } },
    ),
    row: { tier: 'flex', audioTokensIn: 90, imageTokensOut: 12, imageTokensIn: null },
  },
  'the traffic type of Vertex AI, and the prompt that was grounded': {
    kind: 'google',
    answer: json(
      gemini(
        { trafficType: 'ON_DEMAND_PRIORITY' },
        { groundingMetadata: { webSearchQueries: ['a', 'b'] } },
      ),
    ),
    row: { tier: 'priority', toolCalls: { web_search: 1 } },
  },
  'provisioned throughput, streamed': {
    kind: 'google',
    ask: streamed(),
    answer: stream([data(gemini({ trafficType: 'PROVISIONED_THROUGHPUT' }))]),
    row: { tier: 'provisioned_throughput' },
  },
  'the tier of Converse': {
    kind: 'bedrock',
    answer: json({ ...converse, serviceTier: { type: 'flex' } }),
    row: { tier: 'flex' },
  },
  'the tier of a stream of Converse': {
    kind: 'bedrock',
    ask: streamed(),
    answer: whole(
      Buffer.concat([
        awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hi' } }),
        awsEvent('messageStop', { stopReason: 'end_turn' }),
        awsEvent('metadata', { usage: converse.usage, serviceTier: { type: 'priority' } }),
      ]),
      { headers: { 'content-type': 'application/vnd.amazon.eventstream' } },
    ),
    row: { tier: 'priority' },
  },
  'the tier of a whole answer without usage': {
    answer: json(completion('Hi', { service_tier: 'priority' })),
    row: { tier: 'priority', costSource: 'estimated' },
  },
  'the tier of a stream that breaks off before its usage': {
    ask: streamed(),
    answer: stream([role, chunk({ content: 'Hi' }, { service_tier: 'flex' })], {
      failure: { kind: 'network', reason: 'ECONNRESET' },
    }),
    row: { tier: 'flex', costSource: 'estimated', tokensOut: 1 },
  },
  'the tier of a streamed response that breaks off before its usage': {
    path: '/v1/responses',
    ask: { ...ask, stream: true, service_tier: 'flex' },
    answer: stream(begun('priority'), { failure: { kind: 'network', reason: 'ECONNRESET' } }),
    row: { tier: 'priority', costSource: 'estimated' },
  },
  'the tier of a streamed response that fails without naming it again': {
    path: '/v1/responses',
    ask: { ...ask, stream: true },
    answer: stream([
      ...begun('priority'),
      data({
        type: 'response.failed',
        response: { ...response({}, { status: 'failed' }), error: { message: 'no' } },
      }),
    ]),
    row: { tier: 'priority', tokensIn: 100 },
  },
  ...Object.fromEntries(
    [undefined, null, 5, 'auto', {}].flatMap((tier): [string, Case][] => [
      [
        `the tier of a streamed response whose last event has ${JSON.stringify(tier)} for it`,
        {
          path: '/v1/responses',
          ask: { ...ask, stream: true },
          answer: stream([
            ...begun('flex'),
            data({ type: 'response.completed', response: response({}, { service_tier: tier }) }),
          ]),
          row: { tier: 'flex', tokensIn: 100, costSource: 'calculated' },
        },
      ],
      [
        `the tier of a stream whose last chunk has ${JSON.stringify(tier)} for it`,
        {
          ask: streamed(),
          answer: stream([
            role,
            chunk({ content: 'Hi' }, { service_tier: 'flex' }),
            stop,
            makeChunk({ choices: [], usage: counts, service_tier: tier }),
            done,
          ]),
          row: { tier: 'flex', tokensIn: 100, costSource: 'calculated' },
        },
      ],
      [
        `the tier of a stream of Claude whose last event has ${JSON.stringify(tier)} for it`,
        {
          kind: 'anthropic',
          ask: streamed(),
          answer: stream([
            `event: message_start\n${data({
              type: 'message_start',
              message: { usage: { ...claudeCounts, service_tier: 'priority' } },
            })}`,
            `event: content_block_delta\n${data({
              type: 'content_block_delta',
              index: 0,
              delta: { type: 'text_delta', text: 'Hi' },
            })}`,
            `event: message_delta\n${data({
              type: 'message_delta',
              delta: { stop_reason: 'end_turn' },
              usage: { output_tokens: 20, service_tier: tier },
            })}`,
            `event: message_stop\n${data({ type: 'message_stop' })}`,
          ]),
          row: { tier: 'priority', tokensOut: 20 },
        },
      ],
      [
        `the tier in the header of the Gemini API beside ${JSON.stringify(tier)} for the traffic`,
        {
          kind: 'google',
          answer: json(gemini({ trafficType: tier }), {
            headers: { 'x-gemini-service-tier': 'flex' },
          }),
          row: { tier: 'flex', tokensIn: 100 },
        },
      ],
    ]),
  ),
  'the tier and the region of Claude beside counters that are none': {
    kind: 'anthropic',
    answer: json(claude({ input_tokens: 'many', service_tier: 'priority', inference_geo: 'us' })),
    row: { tier: 'priority', geo: 'us', costSource: 'estimated' },
  },
  'the tier of Converse without counters': {
    kind: 'bedrock',
    answer: json({ ...converse, usage: { inputTokens: -1 }, serviceTier: { type: 'flex' } }),
    row: { tier: 'flex', costSource: 'estimated' },
  },
  ...Object.fromEntries(
    [5, 'flex', [], { type: 5 }].map((tier): [string, Case] => [
      `no tier of Converse in ${JSON.stringify(tier)}`,
      {
        kind: 'bedrock',
        answer: json({ ...converse, serviceTier: tier }),
        row: { tier: null, tokensIn: 100 },
      },
    ]),
  ),
  'the tier of a response without usage': {
    path: '/v1/responses',
    ask,
    answer: json({ ...response({}, { service_tier: 'flex' }), usage: null }),
    row: { tier: 'flex', costSource: 'estimated' },
  },
  'the tier and the searches of Gemini without usage': {
    kind: 'google',
    answer: json(
      {
        ...gemini({}, { groundingMetadata: { webSearchQueries: ['a'] } }),
        usageMetadata: undefined,
      },
      { headers: { 'x-gemini-service-tier': 'flex' } },
    ),
    row: { tier: 'flex', costSource: 'estimated', toolCalls: { web_search: 1 } },
  },
  ...Object.fromEntries(
    ['generateContent', 'streamGenerateContent?alt=sse'].map((method): [string, Case] => [
      `the tier in the header, through the Gemini API: ${method}`,
      {
        kind: 'google',
        path: `/v1beta/models/m:${method}`,
        ask: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
        answer: method.startsWith('stream')
          ? stream([data(gemini({}))], {
              headers: { 'x-gemini-service-tier': 'flex', 'content-type': 'text/event-stream' },
            })
          : json(gemini({}), { headers: { 'x-gemini-service-tier': 'flex' } }),
        row: { tier: 'flex', tokensIn: 100 },
      },
    ]),
  ),
  'an answer without usage': {
    answer: json(completion('Hi', {})),
    row: { tier: null, costSource: 'estimated' },
  },
}

test.for(Object.entries(cases))('%s', async ([, given]) => {
  expect(await readRow(given)).toMatchObject(given.row)
})

describe('a translated answer names the tier that served', () => {
  async function read(kind: string, path: string, given: object, answer: Responder) {
    const gateway = await keyedGateway(ofKind(kind))
    const key = await gateway.key()
    gateway.upstream.next(answer)
    const request = { method: 'POST', body: JSON.stringify(given), headers: key.headers }
    return (await gateway.get(path, request)).text()
  }
  const asked = { ...ask, service_tier: 'flex' }

  test('in the Responses API', async () => {
    const served = json(completion('Hi', { usage: counts, service_tier: 'priority' }))
    const body = await read('mistral', '/v1/responses', asked, served)
    expect(JSON.parse(body)).toMatchObject({ service_tier: 'priority' })
  })

  test('in a stream of the Responses API, at its end', async () => {
    const served = stream([
      role,
      hello,
      stop,
      makeChunk({ choices: [], usage: counts, service_tier: 'default' }),
      done,
    ])
    const body = await read('mistral', '/v1/responses', { ...asked, stream: true }, served)
    expect(body.match(/"service_tier":"\w+"/g)).toEqual(['"service_tier":"default"'])
  })

  test('not at all where the vendor does not name it', async () => {
    const served = json(completion('Hi', { usage: counts }))
    const body = await read('mistral', '/v1/responses', asked, served)
    expect(JSON.parse(body)).not.toHaveProperty('service_tier')
  })

  test('in chat completions, whole and streamed', async () => {
    const usage = { ...claudeCounts, service_tier: 'standard' }
    const message = await read('anthropic', '/v1/chat/completions', prompt(), json(claude(usage)))
    expect(JSON.parse(message)).toMatchObject({ service_tier: 'default' })
    const served = stream([data(gemini({ trafficType: 'ON_DEMAND_FLEX' }))])
    const text = await read('google', '/v1/chat/completions', streamed(), served)
    expect(text).toContain('"service_tier":"flex"')
  })

  test('in the Messages API', async () => {
    const served = json(completion('Hi', { usage: counts, service_tier: 'priority' }))
    const given = { ...prompt(), max_tokens: 9 }
    const body = await read('openai', '/v1/messages', given, served)
    expect(JSON.parse(body)).toMatchObject({ usage: { service_tier: 'priority' } })
  })
})

test('the cost of an answer from the cache is free, and the vendor reports none', async () => {
  const gateway = await keyedGateway(
    `${ofKind('openai')}cache = true\n`.replace(/^/, '[cache]\nenabled = true\n'),
  )
  const key = await gateway.key()
  const usage = { ...counts, cost_in_usd_ticks: 50 }
  gateway.upstream.next(json(completion('Hi', { usage, service_tier: 'flex' })))
  for (let at = 0; at < 2; at++) await gateway.ask(key, { ...prompt(), temperature: 0 })
  expect(await gateway.rows()).toMatchObject([
    { costSource: 'calculated', costReported: 5n, tier: 'flex' },
    { costSource: 'free', costReported: null, cost: 0n },
  ])
})

test('a request that is refused has no source of its cost', async () => {
  const gateway = await keyedGateway()
  const key = await gateway.key({ rpm_limit: 0 })
  await gateway.ask(key, prompt())
  expect(await gateway.rows()).toMatchObject([{ costSource: null, tier: null, toolCalls: null }])
})

test('sums by tier', async () => {
  const gateway = await keyedGateway()
  const key = await gateway.key()
  for (const tier of ['priority', 'priority', 'default', undefined]) {
    gateway.upstream.next(json(completion('Hi', { usage: counts, service_tier: tier })))
    await gateway.ask(key, prompt())
  }
  await gateway.rows()
  const { body } = await gateway.admin('GET', '/admin/usage?group_by=tier')
  expect(body).toMatchObject({
    group_by: 'tier',
    groups: [
      { group: 'priority', requests: 2 },
      { group: '', requests: 1 },
      { group: 'standard', requests: 1 },
    ],
  })
})
