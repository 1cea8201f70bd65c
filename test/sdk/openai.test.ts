import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodePorts, serve } from '../../adapters/node/index.ts'
import { createGateway, type Gateway } from '../../src/index.ts'
import { type FakeVendor, startFakeVendor } from '../support/fake-vendor.ts'

/*
 * The official SDK as a client, over real sockets on both sides of the gateway.
 */

let vendor: FakeVendor
let gateway: Gateway
let host: Awaited<ReturnType<typeof serve>>
let client: OpenAI

beforeAll(async () => {
  vendor = await startFakeVendor()
  gateway = await createGateway({
    ...nodePorts(),
    env: {},
    config: `
      [server]
      port = 1
      sse_heartbeat_ms = 20
      [resilience]
      retry_base_ms = 1
      [[providers]]
      name = "vendor"
      kind = "openai"
      base_url = "${vendor.address}/v1"
      [[providers.models]]
      id = "vendor/gpt"
      upstream_id = "gpt"
      modalities = ["text", "image"]
      [[providers.models]]
      id = "plain"
      [[providers.models]]
      id = "decide"
      upstream_id = "gpt"
      capabilities = ["decisions"]
    `,
  })
  host = await serve(gateway, { port: 0 })
  client = new OpenAI({ baseURL: `${host.address}/v1`, apiKey: 'any', maxRetries: 0 })
})

afterAll(async () => {
  await host?.close()
  await vendor?.close()
})

const messages = [{ role: 'user' as const, content: 'Hello' }]

describe('the official openai package', () => {
  test('the SDK gets a completion, its usage and the request id', async () => {
    const completion = await client.chat.completions.create({ model: 'vendor/gpt', messages })
    expect(completion.choices[0]?.message.content).toBe('Hi there')
    expect(completion.usage?.total_tokens).toBe(11)
    expect(completion._request_id).toMatch(/^[\w-]+$/)
    expect(vendor.lastBody()).toMatchObject({ model: 'gpt', messages })
  })

  test.each(['/v1', '/v1/'])('the SDK takes %s as base URL', async (path) => {
    const other = new OpenAI({ baseURL: `${host.address}${path}`, apiKey: 'any' })
    const completion = await other.chat.completions.create({ model: 'plain', messages })
    expect(completion.choices).toHaveLength(1)
  })

  test('the SDK reads a stream to its end, with an estimate when the upstream sends no usage', async () => {
    const stream = await client.chat.completions.create({
      model: 'vendor/gpt',
      messages,
      stream: true,
    })
    let text = ''
    let usage: OpenAI.CompletionUsage | null | undefined
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      usage = chunk.usage ?? usage
    }
    expect(text).toBe('Hi there')
    expect(usage).toMatchObject({ estimated: true })
    expect(usage?.prompt_tokens).toBeGreaterThan(0)
  })

  test('the SDK reads the upstream’s usage chunk when it asks for one', async () => {
    const stream = client.chat.completions.stream({
      model: 'vendor/gpt',
      messages,
      stream_options: { include_usage: true },
    })
    const completion = await stream.finalChatCompletion()
    expect(completion.choices[0]?.message.content).toBe('Hi there')
    expect(completion.usage).toMatchObject({ total_tokens: 11 })
    expect(completion.usage).not.toHaveProperty('estimated')
  })

  test('the SDK runs tools in two steps', async () => {
    const seen: string[] = []
    const runner = client.chat.completions.runTools({
      model: 'vendor/gpt',
      messages,
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'the weather of a city',
            parse: (text: string): { city: string } => JSON.parse(text),
            parameters: { type: 'object', properties: { city: { type: 'string' } } },
            function: ({ city }: { city: string }) => {
              seen.push(city)
              return `sunny in ${city}`
            },
          },
        },
      ],
    })
    expect(await runner.finalContent()).toBe('It is sunny in Lima')
    expect(seen).toEqual(['Lima'])
  })

  test('aborting a stream in the SDK ends the upstream call', async () => {
    const ended = vendor.nextClose()
    const stream = await client.chat.completions.create({
      model: 'vendor/gpt',
      messages: [{ role: 'user', content: 'endless' }],
      stream: true,
    })
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) break
    }
    // The gateway's own timeouts are longer than the time limit of the test.
    await ended
    await expect.poll(() => gateway.inFlight).toBe(0)
  })

  test('the SDK reads a slow stream through heartbeats', async () => {
    const stream = await client.chat.completions.create({
      model: 'vendor/gpt',
      messages: [{ role: 'user', content: 'slow' }],
      stream: true,
    })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe('Hi there')
  })

  test('the SDK throws when a stream dies after its start', async () => {
    const stream = await client.chat.completions.create({
      model: 'vendor/gpt',
      messages: [{ role: 'user', content: 'die' }],
      stream: true,
    })
    const reading = async () => {
      for await (const chunk of stream) expect(chunk.choices).toBeDefined()
    }
    await expect(reading()).rejects.toMatchObject({ code: 'LM-3010' })
  })

  test.each([
    ['an unknown model', 'unknown-model', 404, OpenAI.NotFoundError, 'LM-2001'],
    ['a refused request', 'status 400', 400, OpenAI.BadRequestError, 'LM-3003'],
    ['an unprocessable request', 'status 422', 422, OpenAI.UnprocessableEntityError, 'LM-3003'],
    ['a rate limit', 'status 429', 429, OpenAI.RateLimitError, 'LM-3001'],
    ['a refused credential', 'status 401', 502, OpenAI.InternalServerError, 'LM-3003'],
    ['a broken upstream', 'status 500', 502, OpenAI.InternalServerError, 'LM-3003'],
  ])('%s is the right exception', async (_, content, status, type, code) => {
    const model = content === 'unknown-model' ? content : 'plain'
    const call = client.chat.completions.create({ model, messages: [{ role: 'user', content }] })
    const error = await call.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(type)
    expect(error).toMatchObject({ status, code, requestID: expect.any(String) })
  })

  test('the SDK asks for decisions', async () => {
    const asked = {
      input: 'Hello',
      questions: [
        { type: 'predicate' as const, name: 'greeting', instructions: 'It is a greeting.' },
        { type: 'predicate' as const, instructions: 'It is an order.' },
      ],
    }
    const { answers, usage } = await client.decisions.create({ model: 'decide', ...asked })
    expect(answers).toEqual([
      { type: 'predicate', name: 'greeting', probability: 0.97 },
      { type: 'refusal', name: null },
    ])
    expect(usage.input_tokens).toBe(9)
    expect(vendor.lastBody()).toEqual({ model: 'gpt', ...asked })
    const refused = client.decisions.create({ model: 'decide', ...asked, questions: [] })
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'questions' })
  })

  test('the SDK lists and retrieves models, also with a slash in the id', async () => {
    const ids: string[] = []
    for await (const model of client.models.list()) ids.push(model.id)
    expect(ids).toEqual(['vendor/gpt', 'plain', 'decide'])
    expect(await client.models.retrieve('vendor/gpt')).toMatchObject({ owned_by: 'vendor' })
    await expect(client.models.retrieve('vendor/none')).rejects.toMatchObject({ status: 404 })
  })
})
