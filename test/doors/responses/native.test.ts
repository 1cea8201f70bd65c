import { describe, expect, test } from 'vitest'
import { completion, wholeStream } from '../../support/answers.ts'
import { oneProvider, readError } from '../../support/gateway.ts'
import { broken, json, LiveUpstream, stream, whole } from '../../support/scripted-upstream.ts'
import { finalResponse, readEvents, responsesGateway, type StreamEvent } from './support.ts'

const usage = {
  input_tokens: 7,
  input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 10,
}

const message = {
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
}

function response(more: object = {}) {
  const state = { status: 'completed', output: [message], usage }
  return { id: 'resp_1', object: 'response', created_at: 5, model: 'upstream-m', ...state, ...more }
}

/** Events as OpenAI sends them. */
function events(...payloads: readonly object[]): string[] {
  return payloads.map((payload, at) => {
    const { type } = payload as { type: string }
    return `event: ${type}\ndata: ${JSON.stringify({ ...payload, sequence_number: at })}\n\n`
  })
}

const created = {
  type: 'response.created',
  response: response({ status: 'in_progress', output: [], usage: null }),
}
const delta = { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: 'Hi' }

const completed = (more?: object) => ({ type: 'response.completed', response: response(more) })

const withFallback = `[resilience]
retry_max_attempts = 1
${oneProvider}fallbacks = ["f"]
[[providers]]
name = "q"
kind = "openai"
base_url = "https://other.test/v1"
[[providers.models]]
id = "f"
`

describe('a provider that speaks the Responses API', () => {
  test('gets the bytes of the client with the model replaced, and its answer comes back as it came', async () => {
    const { upstream, send } = await responsesGateway(oneProvider)
    const answer = `{ "n": 1.0, ${JSON.stringify(response()).slice(1)}`
    upstream.next(whole(answer))
    const body = '{"previous_response_id": "resp_0", "model":"m", "x": 1e2, "background": true}'
    const got = await send(body)
    expect(upstream.requests[0]?.url).toBe('https://api.openai.com/v1/responses')
    expect(upstream.text()).toBe(body.replace('"m"', '"upstream-m"'))
    expect(await got.text()).toBe(answer)
  })

  test.each([
    ['kind = "openai"\nbase_url = "https://v.test/v1"\nresponses = true', 'https://v.test/v1'],
    ['kind = "vllm"\nbase_url = "https://v.test"\nresponses = true', 'https://v.test/v1'],
    ['kind = "xai"\nresponses = true', 'https://api.x.ai/v1'],
    [
      'kind = "azure"\nbase_url = "https://r.openai.azure.com"\nresponses = true',
      'https://r.openai.azure.com/openai/v1',
    ],
    [
      'kind = "azure"\nbase_url = "https://r.openai.azure.com/openai/deployments/d?api-version=2024-10-21"\nresponses = true',
      'https://r.openai.azure.com/openai/v1',
    ],
  ])('%s has it below its base_url', async (settings, base) => {
    const { upstream, ask } = await responsesGateway(
      oneProvider.replace('kind = "openai"', settings),
    )
    upstream.next(json(response()))
    await ask({ input: 'Hi' })
    expect(upstream.requests[0]?.url).toBe(`${base}/responses`)
  })

  test('responses = false turns it off for the address of OpenAI', async () => {
    const config = oneProvider.replace('kind = "openai"', 'kind = "openai"\nresponses = false')
    const { upstream, ask } = await responsesGateway(config)
    upstream.next(json(completion('Hi')))
    await ask({ input: 'Hi' })
    expect(upstream.requests[0]?.url).toBe('https://api.openai.com/v1/chat/completions')
  })

  test('a stream passes byte for byte and ends with response.completed', async () => {
    const { upstream, send } = await responsesGateway(oneProvider)
    const sent = events(created, delta, completed()).join('')
    upstream.next(stream([sent, 'data: [DONE]\n\n']))
    const got = await send({ input: 'Hi', stream: true })
    expect(await got.text()).toBe(sent)
  })

  test('a stream without content is an answer', async () => {
    const { upstream, send } = await responsesGateway(oneProvider)
    const sent = events(created, { ...completed(), type: 'response.incomplete' }).join('')
    upstream.next(stream([sent]))
    expect(await (await send({ input: 'Hi', stream: true })).text()).toBe(sent)
  })

  test('usage that a whole answer lacks is estimated', async () => {
    const { upstream, ask } = await responsesGateway(oneProvider)
    upstream.next(json(response({ usage: null })))
    const { usage: estimate } = await ask({ input: 'Hello there' })
    expect(estimate).toMatchObject({ output_tokens: 1, estimated: true })
    expect(estimate?.['input_tokens']).toBeGreaterThan(3)
  })

  test('usage that a stream lacks is estimated in its last event', async () => {
    const { upstream, stream: streamEvents } = await responsesGateway(oneProvider)
    upstream.next(stream(events(created, delta, completed({ usage: undefined, n: 1e21 }))))
    const got = await streamEvents({ input: 'Hello there' })
    expect(finalResponse(got).usage).toMatchObject({ output_tokens: 1, estimated: true })
    expect(got.at(-1)).toMatchObject({ type: 'response.completed', sequence_number: 2 })
  })

  test('a response in the background passes without usage', async () => {
    const { upstream, send } = await responsesGateway(oneProvider)
    const queued = JSON.stringify(response({ status: 'queued', output: [], usage: null }))
    upstream.next(whole(queued))
    expect(await (await send({ input: 'Hi', background: true })).text()).toBe(queued)
  })

  test.each<[string, StreamEvent | object]>([
    [
      'response.failed',
      {
        type: 'response.failed',
        response: response({ status: 'failed', error: { code: 'server_error', message: 'no' } }),
      },
    ],
    ['error', { type: 'error', code: 'server_error', message: 'no', param: null }],
    ['a nested error', { type: 'error', error: { type: 'server_error', message: 'no' } }],
  ])('%s before the first content lets the chain go on', async (_, failure) => {
    const { upstream, stream: streamEvents } = await responsesGateway(withFallback)
    upstream.next(stream(events(created, failure)), stream([wholeStream]))
    const got = await streamEvents({ input: 'Hi' })
    expect(finalResponse(got)).toMatchObject({ status: 'completed', model: 'f' })
  })

  test('a failed whole answer is a failed attempt', async () => {
    const { upstream, send } = await responsesGateway(oneProvider)
    const error = { code: 'invalid_prompt', message: 'not this' }
    upstream.next(json(response({ status: 'failed', output: [], error })))
    const got = await send({ input: 'Hi' })
    expect(got.status).toBe(400)
    expect(await readError(got)).toMatchObject({ code: 'content_filter', gateway_code: 'LM-2013' })
  })

  test('a failure after the first content is response.failed, with the id of the stream', async () => {
    const { upstream, send } = await responsesGateway(oneProvider)
    const live = new LiveUpstream()
    upstream.next(live.responder)
    for (const event of events(created, delta)) live.push(event)
    const got = await send({ input: 'Hi', stream: true, instructions: 'Be brief.' })
    live.fail({ kind: 'network', reason: 'ECONNRESET' })
    const read = await readEvents(got)
    expect(read.at(-1)).toMatchObject({
      type: 'response.failed',
      sequence_number: 2,
      response: {
        id: 'resp_1',
        status: 'failed',
        created_at: 5,
        error: { code: 'LM-3010', gateway_code: 'LM-3010' },
        instructions: 'Be brief.',
      },
    })
    expect(JSON.stringify(read.at(-1))).not.toContain('"input":')
  })

  test('state of a provider is kept where a native fallback can serve it', async () => {
    const config = `
[[providers]]
name = "q"
kind = "openai"
base_url = "https://other.test/v1"
[[providers.models]]
id = "m"
fallbacks = ["native"]
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
[[providers.models]]
id = "native"
`
    const { upstream, ask } = await responsesGateway(config)
    upstream.next(json(response()))
    await ask({ previous_response_id: 'resp_0', input: 'Hi' })
    expect(upstream.requests.map(({ url }) => url)).toEqual(['https://api.openai.com/v1/responses'])
  })

  /* Models of other vendors write reasoning as text, which OpenAI refuses. It finds its own by the id. */
  const summary = [{ type: 'summary_text', text: 'Hm.' }]
  const content = [{ type: 'reasoning_text', text: 'Hm.' }]
  const text = { type: 'reasoning', id: 'rs_1', summary, content }

  test.each([
    [text, {}],
    [{ ...text, encrypted_content: null }, {}],
    [{ type: 'reasoning', summary }, {}],
    [{ type: 'reasoning', summary, encrypted_content: '' }, {}],
    [{ type: 'reasoning', id: 'rs_1', summary }, { store: false }],
  ])('reasoning %j does not reach OpenAI with %j', async (item, more) => {
    const { upstream, ask } = await responsesGateway(oneProvider)
    upstream.next(json(response()))
    await ask({ input: [item, message, item, { role: 'user', content: 'Hi' }], ...more })
    expect(upstream.body()).toMatchObject({
      input: [message, { role: 'user', content: 'Hi' }],
      ...more,
    })
  })

  const ownServer = `${oneProvider.replace('api_key_env', 'base_url = "http://own.test/v1"\nresponses = true\napi_key_env')}`

  test.each([
    ['stored', oneProvider, { type: 'reasoning', id: 'rs_1', summary }],
    ['encrypted', oneProvider, { ...text, encrypted_content: 'gAAA' }],
    ['text for a server of open models', ownServer, text],
  ])('reasoning that is %s passes as it is', async (_, config, item) => {
    const { upstream, ask } = await responsesGateway(config)
    upstream.next(json(response()))
    await ask({ input: [item, message] })
    expect(upstream.body()).toMatchObject({ input: [item, message] })
  })

  test('a lost connection is tried again', async () => {
    const { upstream, ask, clock } = await responsesGateway(oneProvider)
    upstream.next(broken(), json(response()))
    const asking = ask({ input: 'Hi' })
    await clock.advance(1000)
    expect((await asking).id).toBe('resp_1')
  })
})
