import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { greeting, reasoning } from '../../scripts/conformance/upstream/scenario.ts'
import { type StrictVendors, startStrictVendors } from './support/strict-vendors.ts'

/*
 * The Messages API of the official SDK, over sockets: native on anthropic, translated on the others.
 */

let vendors: StrictVendors
let client: Anthropic

beforeAll(async () => {
  vendors = await startStrictVendors()
  const baseURL = vendors.baseURL.replace(/\/v1$/, '')
  client = new Anthropic({ baseURL, apiKey: 'any', maxRetries: 0 })
})

afterAll(async () => {
  await vendors?.close()
})

const question = { role: 'user' as const, content: 'What is the weather in Zürich?' }
const place = z.object({ city: z.string() })
const look = ({ city }: z.infer<typeof place>) => `sunny in ${city}`
const tools = ['weather', 'time'].map((name) => ({
  name,
  description: 'Knows it.',
  input_schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
}))
const thinking = { type: 'enabled' as const, budget_tokens: 4096 }

type Body = Anthropic.MessageCreateParamsNonStreaming
type Send = (body: Body) => Promise<Anthropic.Message>

const sends: readonly (readonly [string, Send])[] = [
  ['create', (body) => client.messages.create(body)],
  ['stream', (body) => client.messages.stream(body).finalMessage()],
]

function asking(model: string, fields: Partial<Body> = {}): Body {
  return { model, max_tokens: 8192, messages: [question], ...fields }
}

/** Runs the calls of an answer and asks again, with the whole history. */
async function runTools(send: Send, model: string, fields: Partial<Body> = {}) {
  const first = await send(asking(model, { tools, ...fields }))
  const results = first.content.flatMap((block) =>
    block.type === 'tool_use'
      ? [
          {
            type: 'tool_result' as const,
            tool_use_id: block.id,
            content: look(place.parse(block.input)),
          },
        ]
      : [],
  )
  const messages: Anthropic.MessageParam[] = [
    question,
    { role: 'assistant', content: first.content },
    { role: 'user', content: results },
  ]
  const last = await send(asking(model, { tools, ...fields, messages }))
  return { first, last }
}

function joinText({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

describe.each(['openai', 'anthropic', 'google', 'bedrock'])('the official SDK on %s', (kind) => {
  test.each(sends)('%s answers a text, with its usage', async (_, send) => {
    const message = await send(asking(`${kind}--say`, { system: 'Be brief.' }))
    expect(joinText(message)).toBe(greeting)
    expect(message.stop_reason).toBe('end_turn')
    expect(message.usage.input_tokens).toBeGreaterThan(0)
    expect(message.usage.output_tokens).toBeGreaterThan(0)
    expect(message.usage).not.toHaveProperty('estimated')
  })

  test.each(sends)('%s runs a tool and gives its result back', async (_, send) => {
    const { first, last } = await runTools(send, `${kind}--tool`)
    expect(first.stop_reason).toBe('tool_use')
    expect(joinText(last)).toBe('The result: sunny in Zürich 1.')
  })

  test.each(sends)('%s runs parallel calls, and gives the thinking back', async (_, send) => {
    const { first, last } = await runTools(send, `${kind}--parallel`, { thinking })
    expect(first.content.filter(({ type }) => type === 'tool_use')).toHaveLength(2)
    expect(joinText(last)).toBe('The result: sunny in Zürich 1 and sunny in Zürich 2.')
  })

  test.each(sends)('%s shows reasoning as thinking ahead of the text', async (_, send) => {
    const { content } = await send(asking(`${kind}--think`, { thinking }))
    expect(content[0]).toMatchObject({ type: 'thinking', thinking: reasoning })
    expect(content.at(-1)).toMatchObject({ type: 'text', text: greeting })
  })

  test('the tool runner plays a whole conversation', async () => {
    const runnable = ['weather', 'time'].map((name) =>
      betaZodTool({ name, description: 'Knows it.', inputSchema: place, run: look }),
    )
    const final = await client.beta.messages.toolRunner({
      model: `${kind}--tool`,
      max_tokens: 8192,
      messages: [question],
      tools: runnable,
    })
    expect(final.content.at(-1)).toMatchObject({ text: 'The result: sunny in Zürich 1.' })
  })

  test('parse returns an answer in the form of its schema', async () => {
    const format = zodOutputFormat(z.object({ city: z.string(), days: z.number() }))
    const body = asking(`${kind}--structured`)
    const message = await client.messages.parse({ ...body, output_config: { format } })
    expect(message.parsed_output).toEqual({ city: 'Zürich 1', days: 1 })
  })

  test('tokens are counted', async () => {
    const model = `${kind}--say`
    const { input_tokens } = await client.messages.countTokens({ model, messages: [question] })
    expect(input_tokens).toBeGreaterThan(0)
  })

  test('a stream that is cut raises an APIError after its text', async () => {
    const stream = client.messages.stream(asking(`${kind}--cut`))
    let text = ''
    stream.on('text', (piece) => {
      text += piece
    })
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIError)
    expect(text).not.toBe('')
    expect(greeting.startsWith(text)).toBe(true)
  })

  test('aborting a stream ends the upstream call', async () => {
    const events = await client.messages.create({ ...asking(`${kind}--slow`), stream: true })
    for await (const event of events) if (event.type === 'content_block_delta') break
    await expect.poll(() => vendors.gateway.inFlight).toBe(0)
  })

  test.each([
    ['refuse', 400, Anthropic.BadRequestError, 'invalid_request_error'],
    ['rate-limited', 429, Anthropic.RateLimitError, 'rate_limit_error'],
    ['overloaded', 502, Anthropic.InternalServerError, 'api_error'],
  ])('%s is the right exception', async (scenario, status, type, name) => {
    const error = await client.messages
      .create(asking(`${kind}--${scenario}`))
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(type)
    expect(error).toMatchObject({ status, type: name, requestID: expect.any(String) })
  })
})

test('an unknown model is a NotFoundError', async () => {
  const call = client.messages.create(asking('none'))
  await expect(call).rejects.toBeInstanceOf(Anthropic.NotFoundError)
})

test('the list of models is read page by page', async () => {
  const ids: string[] = []
  for await (const { id } of client.models.list({ limit: 3 })) ids.push(id)
  expect(ids).toContain('google--say')
  expect(new Set(ids).size).toBe(ids.length)
})

test('the vendors have accepted every request, with its proofs', () => {
  expect(vendors.listFaults()).toEqual([])
})
