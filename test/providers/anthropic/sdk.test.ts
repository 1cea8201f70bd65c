import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import { assemble, type Outcome, readStream, toOutcome } from '../../support/chunks.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { anthropic } from '../cases/anthropic.ts'
import type { ScriptedAnswer, VendorScript } from '../contract-case.ts'
import { anthropicGateway, asking, message, sent } from './support.ts'

/*
 * Compares with the official SDK: what it sends for the same request, and what it reads from the same
 * answer.
 */

type Params = Anthropic.MessageCreateParamsNonStreaming

const tool = {
  name: 'get_weather',
  description: 'The weather of a city',
  input_schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
}
const tools = [
  {
    type: 'function',
    function: {
      name: tool.name,
      description: tool.description,
      parameters: tool.input_schema,
    },
  },
]

const requests: readonly { name: string; ours: object; theirs: Params }[] = [
  {
    name: 'a conversation with instructions and limits',
    ours: {
      max_completion_tokens: 64,
      stop: 'END',
      user: 'u1',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'One?' },
        { role: 'assistant', content: 'Two.' },
        { role: 'user', content: 'Three?' },
      ],
    },
    theirs: {
      model: 'claude-sonnet-4-5',
      max_tokens: 64,
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'One?' },
        { role: 'assistant', content: 'Two.' },
        { role: 'user', content: 'Three?' },
      ],
    },
  },
  {
    name: 'the second turn of a tool call, thinking',
    ours: {
      max_tokens: 100,
      reasoning_effort: 'low',
      tools,
      tool_choice: 'auto',
      parallel_tool_calls: false,
      messages: [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: 'Let me see.',
          thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }],
          tool_calls: [
            {
              id: 'toolu_1',
              type: 'function',
              function: { name: tool.name, arguments: '{"city":"Oslo"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: '12 degrees' },
      ],
    },
    theirs: {
      model: 'claude-sonnet-4-5',
      max_tokens: 1124,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tools: [tool],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      messages: [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
            { type: 'text', text: 'Let me see.' },
            { type: 'tool_use', id: 'toolu_1', name: tool.name, input: { city: 'Oslo' } },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '12 degrees' }],
        },
      ],
    },
  },
  {
    name: 'images, a schema and a cache mark',
    ours: {
      max_tokens: 100,
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'r',
          schema: { type: 'object', properties: { a: { type: 'string' } } },
        },
      },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
            { type: 'text', text: 'Which?', cache_control: { type: 'ephemeral' } },
          ],
        },
      ],
    },
    theirs: {
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      output_config: {
        format: {
          type: 'json_schema',
          schema: {
            type: 'object',
            properties: { a: { type: 'string' } },
            additionalProperties: false,
          },
        },
      },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
            { type: 'text', text: 'Which?', cache_control: { type: 'ephemeral' } },
          ],
        },
      ],
    },
  },
]

describe('requests', () => {
  test.each(requests)(
    'the request equals that of the official SDK: $name',
    async ({ ours, theirs }) => {
      let sdkBody: unknown
      let sdkUrl: string | undefined
      const client = sdk(async (url, init) => {
        sdkUrl = String(url)
        sdkBody = JSON.parse(String(init?.body))
        return Response.json(message([]))
      })
      await client.messages.create(theirs)
      expect(sdkUrl).toBe('https://api.anthropic.com/v1/messages')
      expect(await sent(ours)).toEqual(sdkBody)
    },
  )
})

const answers: readonly { name: string; said: ScriptedAnswer }[] = [
  {
    name: 'text',
    said: { text: ['Grüße, ', '世界 🦆'], finish: 'stop', usage: { prompt: 9, completion: 6 } },
  },
  {
    name: 'thinking, text and calls, one of them without arguments',
    said: {
      reasoning: 'Both.',
      text: ['Let me see.'],
      calls: [
        { id: 'toolu_1', name: 'get_weather', arguments: { city: 'Oslo', deep: { n: [1, null] } } },
        { id: 'toolu_2', name: 'get_time', arguments: {} },
      ],
      finish: 'tool_calls',
      usage: { prompt: 20, completion: 30 },
    },
  },
  {
    name: 'a truncated answer',
    said: { text: ['On'], finish: 'length', usage: { prompt: 1, completion: 1 } },
  },
]

describe('answers', () => {
  // The case of this kind answers by a script.
  const script = anthropic.script as VendorScript

  test.each(answers)('the answer is read as by the official SDK: $name', async ({ said }) => {
    const body = script.answer(said)
    const theirs = await sdk(async () => Response.json(body)).messages.create(question)
    const { chat, upstream } = await anthropicGateway()
    upstream.next(json(body))
    expectSame(toOutcome(await (await chat(asking())).json()), theirs)
  })

  test.each(answers)('the stream is read as by the official SDK: $name', async ({ said }) => {
    const { opening, content, end } = script.events(said)
    const events = [...opening, ...content, ...end]
    const headers = { 'content-type': 'text/event-stream' }
    const theirs = await sdk(async () => new Response(events.join(''), { headers }))
      .messages.stream(question)
      .finalMessage()
    const { chat, upstream } = await anthropicGateway()
    upstream.next(stream(events))
    const { chunks } = await readStream(await chat(asking({ stream: true })))
    expectSame(assemble(chunks), theirs)
  })
})

const question: Params = {
  model: 'claude-sonnet-4-5',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hi' }],
}

function expectSame(ours: Outcome, { content, usage }: Anthropic.Message): void {
  const joinTexts = (wanted: string) =>
    content
      .map((block) => {
        if (block.type !== wanted) return ''
        return block.type === 'text' ? block.text : block.type === 'thinking' ? block.thinking : ''
      })
      .join('')
  expect(ours.content ?? '').toBe(joinTexts('text'))
  expect(ours.reasoning).toBe(joinTexts('thinking'))
  expect(
    ours.calls.map(({ id, function: { name, arguments: text } }) => [id, name, JSON.parse(text)]),
  ).toEqual(
    content.flatMap((block) =>
      block.type === 'tool_use' ? [[block.id, block.name, block.input]] : [],
    ),
  )
  expect(ours.usage).toMatchObject({
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
  })
}

function sdk(fetch: typeof globalThis.fetch): Anthropic {
  return new Anthropic({ apiKey: 'sk-ant-api03-test', maxRetries: 0, fetch })
}
