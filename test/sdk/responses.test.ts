import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import type { Response, ResponseInputItem } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { greeting, reasoning } from '../../scripts/conformance/upstream/scenario.ts'
import { type StrictVendors, startStrictVendors, upstreamKinds } from './support/strict-vendors.ts'

/*
 * The Responses API of the official SDK, over sockets, on every kind of upstream.
 */

let vendors: StrictVendors
let client: OpenAI

beforeAll(async () => {
  vendors = await startStrictVendors()
  client = new OpenAI({ baseURL: vendors.baseURL, apiKey: 'any', maxRetries: 0 })
})

afterAll(async () => {
  await vendors?.close()
})

const question: ResponseInputItem = { role: 'user', content: 'What is the weather in Zürich?' }

const tools = ['weather', 'time'].map((name) => ({
  type: 'function' as const,
  name,
  description: 'Knows it.',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
}))

const thinking = { reasoning: { effort: 'high' as const, summary: 'auto' as const } }

type Body = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>
type Send = (body: Body) => Promise<Response>

const sends: readonly (readonly [string, Send])[] = [
  ['create', (body) => client.responses.create(body)],
  ['stream', (body) => client.responses.stream(body).finalResponse()],
]

/** Runs the calls of a response and asks again, with the whole history. */
async function runTools(send: Send, model: string, fields: object = {}) {
  const first = await send({ model, tools, input: [question], ...fields })
  const results = first.output.flatMap((item): ResponseInputItem[] =>
    item.type === 'function_call'
      ? [
          {
            type: 'function_call_output',
            call_id: item.call_id,
            output: `sunny in ${JSON.parse(item.arguments).city}`,
          },
        ]
      : [],
  )
  // What a response has put out is input of the next one.
  const output = first.output as ResponseInputItem[]
  const input = [question, ...output, ...results]
  const last = await send({ model, tools, input, ...fields })
  return { first, last, input: [...input, ...(last.output as ResponseInputItem[])] }
}

describe.each(upstreamKinds)('the official openai package on %s', (kind) => {
  test.each(sends)('%s answers a text, with its usage', async (_, send) => {
    const response = await send({
      model: `${kind}--say`,
      input: 'Hello',
      instructions: 'Be brief.',
    })
    expect(response.output_text).toBe(greeting)
    expect(response).toMatchObject({ status: 'completed', incomplete_details: null, error: null })
    expect(response.usage?.output_tokens).toBeGreaterThan(0)
    expect(response.usage).not.toHaveProperty('estimated')
  })

  test.each(sends)('%s runs a tool, twice in one conversation', async (_, send) => {
    const { first, last, input } = await runTools(send, `${kind}--tool`)
    expect(first.output.filter(({ type }) => type === 'function_call')).toHaveLength(1)
    expect(last.output_text).toBe('The result: sunny in Zürich 1.')
    const again = await send({ model: `${kind}--tool`, tools, input: [...input, question] })
    expect(again.output.at(-1)).toMatchObject({ type: 'function_call', name: 'weather' })
  })

  test.each(sends)('%s runs parallel calls, and gives the reasoning back', async (_, send) => {
    const { first, last, input } = await runTools(send, `${kind}--parallel`, thinking)
    expect(first.output.filter(({ type }) => type === 'function_call')).toHaveLength(2)
    expect(last.output_text).toBe('The result: sunny in Zürich 1 and sunny in Zürich 2.')
    const more = { model: `${kind}--parallel`, tools, input: [...input, question], ...thinking }
    expect((await send(more)).status).toBe('completed')
  })

  test.each(sends)('%s shows reasoning as a summary', async (_, send) => {
    const { output } = await send({ model: `${kind}--think`, input: 'Hello', ...thinking })
    const [item] = output
    expect(item).toMatchObject({ type: 'reasoning', summary: [{ text: reasoning }] })
    expect(output.map(({ type }) => type)).toEqual(
      kind === 'google' ? ['reasoning', 'message', 'reasoning'] : ['reasoning', 'message'],
    )
  })

  test('parse returns an answer in the form of its schema', async () => {
    const format = zodTextFormat(z.object({ city: z.string(), days: z.number() }), 'forecast')
    const response = await client.responses.parse({
      model: `${kind}--structured`,
      input: 'Hello',
      text: { format },
    })
    expect(response.output_parsed).toEqual({ city: 'Zürich 1', days: 1 })
  })

  test('a stream that is cut ends with response.failed', async () => {
    const events = await client.responses.create({
      model: `${kind}--cut`,
      input: 'Hello',
      stream: true,
    })
    let last: OpenAI.Responses.ResponseStreamEvent | undefined
    for await (const event of events) last = event
    expect(last).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'LM-3010', gateway_code: 'LM-3010' } },
    })
  })

  test('the stream helper returns a response that has failed', async () => {
    const stream = client.responses.stream({ model: `${kind}--cut`, input: 'Hello' })
    expect(await stream.finalResponse()).toMatchObject({ status: 'failed' })
  })

  test('aborting a stream ends the upstream call', async () => {
    const events = await client.responses.create({
      model: `${kind}--slow`,
      input: 'Hello',
      stream: true,
    })
    for await (const event of events) if (event.type === 'response.output_text.delta') break
    await expect.poll(() => vendors.gateway.inFlight).toBe(0)
  })

  test.each([
    ['refuse', 400, OpenAI.BadRequestError, 'LM-3003'],
    ['rate-limited', 429, OpenAI.RateLimitError, 'rate_limit_exceeded'],
    ['overloaded', 502, OpenAI.InternalServerError, 'LM-3003'],
  ])('%s is the right exception', async (scenario, status, type, code) => {
    const call = client.responses.create({ model: `${kind}--${scenario}`, input: 'Hello' })
    const error = await call.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(type)
    expect(error).toMatchObject({ status, code, requestID: expect.any(String) })
  })
})

test('an unknown model is a NotFoundError', async () => {
  const call = client.responses.create({ model: 'none', input: 'Hello' })
  await expect(call).rejects.toMatchObject({ status: 404, code: 'LM-2001' })
})

test('a response cannot be retrieved', async () => {
  const retrieving = client.responses.retrieve('resp_1')
  await expect(retrieving).rejects.toMatchObject({ status: 404, code: 'LM-1003' })
})

test('the vendors have accepted every request, with its proofs', () => {
  expect(vendors.listFaults()).toEqual([])
})
