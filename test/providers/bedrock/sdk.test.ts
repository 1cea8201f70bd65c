import { Readable } from 'node:stream'
import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime'
import { describe, expect, test } from 'vitest'
import { awsEvent } from '../../support/aws-event-stream.ts'
import { assemble, readStream, toOutcome } from '../../support/chunks.ts'
import { json } from '../../support/scripted-upstream.ts'
import {
  answered,
  apiKey,
  argue,
  asking,
  bedrockGateway,
  close,
  metadata,
  openCall,
  say,
  sonnet,
  start,
  stop,
  streamed,
} from './support.ts'

interface Asked {
  readonly url: string
  readonly authorization: string | undefined
  readonly body: unknown
}

/** A request inside of the official client. */
interface Outgoing {
  readonly protocol: string
  readonly hostname: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Creates Amazon's own client, which gets this answer and records its request. */
function officialClient(type: string, pieces: readonly Uint8Array[]) {
  const asked: Asked[] = []
  const client = new BedrockRuntimeClient({
    region: 'us-east-1',
    token: { token: apiKey },
    authSchemePreference: ['httpBearerAuth'],
    maxAttempts: 1,
    requestHandler: {
      handle: async ({ protocol, hostname, path, headers, body }: Outgoing) => {
        asked.push({
          url: `${protocol}//${hostname}${path}`,
          authorization: headers['Authorization'],
          body: JSON.parse(new TextDecoder().decode(body)),
        })
        const head = { statusCode: 200, headers: { 'content-type': type } }
        return { response: { ...head, body: Readable.from(pieces) } }
      },
    },
  })
  return { client, asked }
}

function finding(answer: object) {
  return officialClient('application/json', [new TextEncoder().encode(JSON.stringify(answer))])
}

const pixel = 'iVBORw0KGgo='
const png = Uint8Array.from(atob(pixel), (character) => character.charCodeAt(0))
const schema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  additionalProperties: false,
}

const requests: readonly (readonly [string, object, Omit<ConverseCommandInput, 'modelId'>])[] = [
  [
    'instructions, an image and a file',
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Grüße', cache_control: { type: 'ephemeral', ttl: '5m' } },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
            {
              type: 'file',
              file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pixel}` },
            },
          ],
        },
      ],
      max_tokens: 9,
      top_p: 0.5,
      top_k: 3,
      stop: ['END'],
      service_tier: 'flex',
    },
    {
      system: [{ text: 'Be brief.' }],
      messages: [
        {
          role: 'user',
          content: [
            { text: 'Grüße' },
            { cachePoint: { type: 'default', ttl: '5m' } },
            { image: { format: 'png', source: { bytes: png } } },
            { document: { format: 'pdf', name: 'a', source: { bytes: png } } },
          ],
        },
      ],
      inferenceConfig: { maxTokens: 9, topP: 0.5, stopSequences: ['END'] },
      additionalModelRequestFields: { top_k: 3 },
      serviceTier: { type: 'flex' },
    },
  ],
  [
    'the second turn of a tool call, with thinking',
    {
      messages: [
        { role: 'user', content: 'W?' },
        {
          role: 'assistant',
          content: 'Looking.',
          thinking_blocks: [
            { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
            { type: 'redacted_thinking', data: pixel },
          ],
          tool_calls: [
            { id: 'w1', type: 'function', function: { name: 'get', arguments: '{"a":"b"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'w1', content: 'cold' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'get', description: 'Gets', parameters: schema, strict: true },
        },
      ],
      tool_choice: 'auto',
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    },
    {
      messages: [
        { role: 'user', content: [{ text: 'W?' }] },
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } },
            { reasoningContent: { redactedContent: png } },
            { text: 'Looking.' },
            { toolUse: { toolUseId: 'w1', name: 'get', input: { a: 'b' } } },
          ],
        },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 'w1', content: [{ text: 'cold' }] } }],
        },
      ],
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: 'get',
              description: 'Gets',
              inputSchema: { json: schema },
              strict: true,
            },
          },
        ],
        toolChoice: { auto: {} },
      },
      inferenceConfig: { maxTokens: 5120 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1024 } },
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { name: 'n', schema: JSON.stringify(schema) } },
        },
      },
    },
  ],
]

describe('requests', () => {
  test.each(requests)(
    'the request equals that of the official client: %s',
    async (_, ours, theirs) => {
      const answer = answered([{ text: 'Hi' }])
      const { client, asked } = finding(answer)
      await client.send(new ConverseCommand({ modelId: sonnet, ...theirs }))
      const { chat, upstream } = await bedrockGateway()
      upstream.next(json(answer))
      await chat({ model: 'm', ...ours })
      const { url, headers } = upstream.requests[0] ?? {}
      expect({ url, authorization: headers?.['authorization'], body: upstream.body() }).toEqual(
        asked[0],
      )
    },
  )
})

test('a JSON answer is read as by the official client', async () => {
  const answer = answered(
    [
      { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } },
      { text: 'Grüße' },
      { toolUse: { toolUseId: 'w1', name: 'get', input: { a: 1 } } },
    ],
    { stopReason: 'tool_use' },
  )
  const theirs = await finding(answer).client.send(
    new ConverseCommand({ modelId: sonnet, messages: [] }),
  )
  const [thought, said, asked] = theirs.output?.message?.content ?? []
  const { chat, upstream } = await bedrockGateway()
  upstream.next(json(answer))
  const ours = toOutcome(await (await chat(asking())).json())
  const [call] = ours.calls
  expect(ours.reasoning).toBe(thought?.reasoningContent?.reasoningText?.text)
  expect(ours.content).toBe(said?.text)
  expect({
    toolUseId: call?.id,
    name: call?.function.name,
    input: JSON.parse(call?.function.arguments ?? ''),
  }).toEqual(asked?.toolUse)
  expect(ours.usage).toEqual({
    prompt_tokens: theirs.usage?.inputTokens,
    completion_tokens: theirs.usage?.outputTokens,
    total_tokens: theirs.usage?.totalTokens,
  })
})

test('a stream is read as by the official client', async () => {
  const messages = [
    start,
    awsEvent('contentBlockDelta', {
      contentBlockIndex: 0,
      delta: { reasoningContent: { text: 'Hm.' } },
    }),
    close(0),
    say('Grü', 1),
    say('ße', 1),
    close(1),
    openCall(2, 'w1', 'get'),
    argue(2, '{"a":'),
    argue(2, '1}'),
    close(2),
    stop('tool_use'),
    metadata,
  ]
  const { client } = officialClient('application/vnd.amazon.eventstream', messages)
  const { stream } = await client.send(new ConverseStreamCommand({ modelId: sonnet, messages: [] }))
  const theirs = { content: '', reasoning: '', id: '', name: '', arguments: '', total: 0 }
  for await (const { contentBlockStart, contentBlockDelta, metadata: end } of stream ?? []) {
    theirs.id += contentBlockStart?.start?.toolUse?.toolUseId ?? ''
    theirs.name += contentBlockStart?.start?.toolUse?.name ?? ''
    theirs.content += contentBlockDelta?.delta?.text ?? ''
    theirs.reasoning += contentBlockDelta?.delta?.reasoningContent?.text ?? ''
    theirs.arguments += contentBlockDelta?.delta?.toolUse?.input ?? ''
    theirs.total += end?.usage?.totalTokens ?? 0
  }
  const { chat, upstream } = await bedrockGateway()
  upstream.next(streamed(messages))
  const { chunks } = await readStream(await chat(asking({ stream: true })))
  const { content, reasoning, calls, usage } = assemble(chunks)
  const [call] = calls
  const { id, function: called } = call ?? expect.unreachable()
  expect({ content, reasoning, id, ...called, total: usage?.['total_tokens'] }).toEqual(theirs)
  expect(theirs).toMatchObject({ content: 'Grüße', reasoning: 'Hm.', arguments: '{"a":1}' })
})
