import OpenAI, { APIError, AzureOpenAI, BadRequestError } from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { serve } from '../../../adapters/node/index.ts'
import { gatewayOver } from '../../node/support/gateway-over.ts'
import { httpServer } from '../../node/support/servers.ts'
import { done } from '../../support/answers.ts'
import { textChunk, textCompletion, textUsageEvent } from '../../support/completions.ts'

/*
 * The official client of OpenAI over a socket.
 */

const wholeStream =
  textChunk(' fo') + textChunk('ur') + textChunk('', 'stop') + textUsageEvent + done

/** A gateway whose upstream sends this stream, or else a whole answer. */
async function client(stream = wholeStream) {
  const received: { path: string | undefined; body: Record<string, unknown> }[] = []
  const vendor = await httpServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const body = JSON.parse(Buffer.concat(pieces).toString())
    received.push({ path: request.url, body })
    response.setHeader('content-type', body.stream ? 'text/event-stream' : 'application/json')
    response.end(body.stream ? stream : JSON.stringify(textCompletion()))
  })
  const gateway = await gatewayOver(`
    [resilience]
    retry_max_attempts = 1
    [[providers]]
    name = "p"
    kind = "openai"
    base_url = "${vendor.url}/v1"
    models = [{ id = "m", upstream_id = "davinci-002" }]
    [[providers]]
    name = "claude"
    kind = "anthropic"
    base_url = "${vendor.url}"
    models = [{ id = "translated" }]
  `)
  const host = await serve(gateway, { port: 0 })
  onTestFinished(() => host.close())
  const options = { apiKey: 'any', maxRetries: 0 }
  const openai = new OpenAI({ ...options, baseURL: `${host.address}/v1` })
  const azure = new AzureOpenAI({ ...options, endpoint: host.address, apiVersion: '2024-10-21' })
  return { openai, azure, received }
}

test('the client gets a completion', async () => {
  const { openai, received } = await client()
  const prompt = 'def add(a, b):\n'
  const answer = await openai.completions.create({ model: 'm', prompt, suffix: '\n', best_of: 2 })
  expect(answer.choices[0]?.text).toBe(' four')
  expect(answer.usage?.total_tokens).toBe(7)
  const body = { model: 'davinci-002', prompt, suffix: '\n', best_of: 2 }
  expect(received).toEqual([{ path: '/v1/completions', body }])
})

test.each([
  ['that it asked for', { stream_options: { include_usage: true } }],
  ['that it did not ask for', {}],
])('the client reads a stream with usage %s', async (_, more) => {
  const { openai } = await client()
  const stream = await openai.completions.create({
    model: 'm',
    prompt: [1, 2, 3],
    stream: true,
    ...more,
  })
  let text = ''
  let tokens: number | undefined
  for await (const { choices, usage } of stream) {
    text += choices[0]?.text ?? ''
    tokens = usage?.total_tokens
  }
  expect([text, tokens]).toEqual([' four', 7])
})

test('the client throws an error for a stream that is cut', async () => {
  const { openai } = await client(textChunk(' fo'))
  const stream = await openai.completions.create({ model: 'm', prompt: 'x', stream: true })
  const texts: string[] = []
  const read = async () => {
    for await (const { choices } of stream) texts.push(choices[0]?.text ?? '')
  }
  const error = await read().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(APIError)
  expect(error).toMatchObject({ code: 'LM-3010' })
  expect(texts).toEqual([' fo'])
})

test('the client throws its BadRequestError for a model without the API', async () => {
  const { openai, received } = await client()
  const asked = openai.completions.create({ model: 'translated', prompt: 'x' })
  const error = await asked.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(BadRequestError)
  expect(error).toMatchObject({ code: 'LM-2002', param: 'model' })
  expect(received).toEqual([])
})

test('AzureOpenAI gets a completion of the model in its path', async () => {
  const { azure, received } = await client()
  const answer = await azure.completions.create({ model: 'm', prompt: 'x' })
  expect(answer.choices[0]?.text).toBe(' four')
  expect(received).toMatchObject([{ path: '/v1/completions', body: { model: 'davinci-002' } }])
})
