import { AzureOpenAI, NotFoundError } from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { serve } from '../../adapters/node/index.ts'
import { completion, wholeStream } from '../support/answers.ts'
import { gatewayOver } from './support/gateway-over.ts'
import { httpServer } from './support/servers.ts'

/*
 * The official client for Azure, which names the model in the path and sends its key as `api-key`.
 */

interface Received {
  readonly url: string | undefined
  readonly headers: object
  readonly body: Record<string, unknown>
}

/** A client of a gateway whose model `org/name` is `gpt-4.1` at its upstream. */
async function azureClient() {
  const received: Received[] = []
  const vendor = await httpServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const body = JSON.parse(Buffer.concat(pieces).toString())
    received.push({ url: request.url, headers: request.headers, body })
    response.setHeader('content-type', body.stream ? 'text/event-stream' : 'application/json')
    if (body.stream) return response.end(wholeStream)
    const embedding = { object: 'embedding', index: 0, embedding: [0.5, -0.25] }
    const list = { object: 'list', data: [embedding], usage: { prompt_tokens: 1, total_tokens: 1 } }
    response.end(JSON.stringify(body.input === undefined ? completion('Hi') : list))
  })
  const gateway = await gatewayOver(`
    [[providers]]
    name = "p"
    kind = "openai"
    base_url = "${vendor.url}/v1"
    models = [{ id = "org/name", upstream_id = "gpt-4.1", capabilities = ["chat", "embed"] }]
  `)
  const host = await serve(gateway, { port: 0 })
  onTestFinished(() => host.close())
  const options = { endpoint: host.address, apiKey: 'any', apiVersion: '2024-10-21', maxRetries: 0 }
  const client = new AzureOpenAI(options)
  return { client, options, received }
}

const messages = [{ role: 'user' as const, content: 'Hi' }]

test('AzureOpenAI gets a chat completion', async () => {
  const { client, received } = await azureClient()
  const answer = await client.chat.completions.create({ model: 'org/name', messages })
  expect(answer.choices[0]?.message.content).toBe('Hi')
  expect(received).toMatchObject([{ url: '/v1/chat/completions', body: { model: 'gpt-4.1' } }])
  expect(received[0]?.headers).not.toHaveProperty('api-key')
})

test('AzureOpenAI gets a stream with its usage', async () => {
  const { client } = await azureClient()
  const stream = await client.chat.completions.create({
    model: 'org/name',
    messages,
    stream: true,
    stream_options: { include_usage: true },
  })
  let content = ''
  let tokens: number | undefined
  for await (const { choices, usage } of stream) {
    content += choices[0]?.delta.content ?? ''
    tokens = usage?.total_tokens
  }
  expect([content, tokens]).toEqual(['Hello', 11])
})

test('AzureOpenAI gets embeddings, which it asks for in base64', async () => {
  const { client, received } = await azureClient()
  const answer = await client.embeddings.create({ model: 'org/name', input: 'Hi' })
  expect(answer.data[0]?.embedding).toEqual([0.5, -0.25])
  expect(received).toMatchObject([{ url: '/v1/embeddings', body: { model: 'gpt-4.1' } }])
})

test('the deployment of AzureOpenAI counts before the model of the request', async () => {
  const { options, received } = await azureClient()
  const client = new AzureOpenAI({ ...options, deployment: 'org/name' })
  await client.chat.completions.create({ model: 'gpt-4o', messages })
  expect(received).toMatchObject([{ body: { model: 'gpt-4.1' } }])
})

test('AzureOpenAI throws its NotFoundError for an unknown deployment', async () => {
  const { client } = await azureClient()
  const asked = client.chat.completions.create({ model: 'nobody', messages })
  const error = await asked.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(NotFoundError)
  expect(error).toMatchObject({ code: 'LM-2001', param: 'model' })
})
