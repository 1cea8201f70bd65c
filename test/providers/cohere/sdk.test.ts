import { type Cohere, CohereClientV2 } from 'cohere-ai'
import { describe, expect, test } from 'vitest'
import { providerKey } from '../../support/gateway.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { answered, asking, cohereGateway, end, event, heard, piece, say, start } from './support.ts'

/** The vendor's own client, with a scripted answer; it records its requests. */
function vendorClient(body: string, type = 'application/json') {
  const asked: { url: string; authorization: string | null; body: unknown }[] = []
  const client = new CohereClientV2({
    token: providerKey,
    maxRetries: 0,
    fetch: async (input, init) => {
      const request = new Request(input, init)
      asked.push({
        url: request.url,
        authorization: request.headers.get('authorization'),
        body: await request.json(),
      })
      return new Response(body, { headers: { 'content-type': type } })
    },
  })
  return { client, asked }
}

const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
const image = 'data:image/png;base64,iVBORw0KGgo='

const twins: readonly (readonly [string, object, Omit<Cohere.V2ChatRequest, 'model'>])[] = [
  [
    'every sampling field',
    {
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      max_completion_tokens: 9,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 7,
      seed: 4,
      stop: ['END'],
      frequency_penalty: 0.25,
      logprobs: true,
      reasoning_effort: 'high',
    },
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      maxTokens: 9,
      temperature: 0.5,
      p: 0.9,
      k: 7,
      seed: 4,
      stopSequences: ['END'],
      frequencyPenalty: 0.25,
      logprobs: true,
      thinking: { type: 'enabled' },
    },
  ],
  [
    'an image and a schema',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: image, detail: 'low' } },
          ],
        },
      ],
      response_format: { type: 'json_schema', json_schema: { name: 'o', schema } },
    },
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', imageUrl: { url: image, detail: 'low' } },
          ],
        },
      ],
      responseFormat: { type: 'json_object', jsonSchema: schema },
    },
  ],
  [
    'the result of a tool call',
    {
      messages: [
        { role: 'user', content: 'W?' },
        {
          role: 'assistant',
          content: 'Looking.',
          tool_calls: [
            { id: 'w1', type: 'function', function: { name: 'get', arguments: '{"a":"b"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'w1', content: '{"t":4}' },
      ],
      tools: [{ type: 'function', function: { name: 'get', parameters: schema, strict: true } }],
      tool_choice: 'required',
    },
    {
      messages: [
        { role: 'user', content: 'W?' },
        {
          role: 'assistant',
          toolPlan: 'Looking.',
          toolCalls: [
            { id: 'w1', type: 'function', function: { name: 'get', arguments: '{"a":"b"}' } },
          ],
        },
        { role: 'tool', toolCallId: 'w1', content: '{"t":4}' },
      ],
      tools: [{ type: 'function', function: { name: 'get', parameters: schema } }],
      strictTools: true,
      toolChoice: 'REQUIRED',
    },
  ],
]

describe('requests of the official SDK', () => {
  test.each(twins)(
    'the gateway sends the same request as the official SDK: %s',
    async (_, ours, theirs) => {
      const { client, asked } = vendorClient(JSON.stringify(answered({})))
      await client.chat({ model: 'command-a-03-2025', ...theirs })
      const { chat, upstream } = await cohereGateway()
      upstream.next(json(answered({})))
      await chat({ model: 'm', ...ours })
      const { url, headers } = upstream.requests[0] ?? {}
      expect({ url, authorization: headers?.['authorization'], body: upstream.body() }).toEqual(
        asked[0],
      )
    },
  )
})

test('the gateway reads the same answer as the official SDK', async () => {
  const answer = answered(
    {
      content: [
        { type: 'thinking', thinking: 'Hmm.' },
        { type: 'text', text: 'Hi' },
      ],
      tool_calls: [{ id: 'w1', type: 'function', function: { name: 'get', arguments: '{"a":1}' } }],
    },
    { usage: { tokens: { input_tokens: 10, output_tokens: 5 }, cached_tokens: 4 } },
  )
  const { client } = vendorClient(JSON.stringify(answer))
  const theirs = await client.chat({ model: 'x', messages: [{ role: 'user', content: 'Hi' }] })
  const { chat, upstream } = await cohereGateway()
  upstream.next(json(answer))
  const [block, said] = theirs.message.content ?? []
  expect(await (await chat(asking())).json()).toMatchObject({
    id: theirs.id,
    choices: [
      {
        message: {
          reasoning_content: block?.type === 'thinking' && block.thinking,
          content: said?.type === 'text' && said.text,
          tool_calls: theirs.message.toolCalls,
        },
      },
    ],
    usage: {
      prompt_tokens: theirs.usage?.tokens?.inputTokens,
      completion_tokens: theirs.usage?.tokens?.outputTokens,
      prompt_tokens_details: { cached_tokens: theirs.usage?.cachedTokens },
    },
  })
})

test('the gateway reads the same stream as the official SDK', async () => {
  const events = [
    start,
    piece('content-start', { content: { type: 'thinking', thinking: '' } }, { index: 0 }),
    piece('content-delta', { content: { thinking: 'Hmm.' } }, { index: 0 }),
    event('content-end', { index: 0 }),
    piece('content-start', { content: { type: 'text', text: '' } }, { index: 1 }),
    say('Hel'),
    say('lo'),
    event('content-end', { index: 1 }),
    piece(
      'tool-call-start',
      { tool_calls: { id: 'w1', type: 'function', function: { name: 'get', arguments: '' } } },
      { index: 0 },
    ),
    piece('tool-call-delta', { tool_calls: { function: { arguments: '{"a":' } } }, { index: 0 }),
    piece('tool-call-delta', { tool_calls: { function: { arguments: '1}' } } }, { index: 0 }),
    event('tool-call-end', { index: 0 }),
    end('TOOL_CALL'),
  ]
  const { client } = vendorClient(events.join(''), 'text/event-stream')
  const theirs = { content: '', reasoning: '', id: '', name: '', arguments: '' }
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  for await (const one of await client.chatStream({ model: 'x', messages })) {
    switch (one.type) {
      case 'content-delta':
        theirs.content += one.delta?.message?.content?.text ?? ''
        theirs.reasoning += one.delta?.message?.content?.thinking ?? ''
        break
      case 'tool-call-start':
        theirs.id = one.delta?.message?.toolCalls?.id ?? ''
        theirs.name = one.delta?.message?.toolCalls?.function?.name ?? ''
        break
      case 'tool-call-delta':
        theirs.arguments += one.delta?.message?.toolCalls?.function?.arguments ?? ''
        break
    }
  }
  const { chat, upstream } = await cohereGateway()
  upstream.next(stream(events))
  const { content, reasoning, calls } = await heard(await chat(asking({ stream: true })))
  expect({ content, reasoning, id: calls[0]?.id, ...calls[0]?.function }).toEqual(theirs)
  expect(theirs).toMatchObject({ content: 'Hello', reasoning: 'Hmm.', arguments: '{"a":1}' })
})
