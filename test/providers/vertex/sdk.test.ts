import { type GenerateContentParameters, GoogleGenAI } from '@google/genai'
import { describe, expect, test } from 'vitest'
import { json, type Responder, stream } from '../../support/scripted-upstream.ts'
import { asking, event, payloads, serviceAccount, token, vertexGateway } from './support.ts'

/** Google's own client for a project, with a scripted answer; it records its requests. */
function vendorClient(location: string, body = '{}', type = 'application/json') {
  const asked: { url: string; authorization: string | null; body: unknown }[] = []
  const client = new GoogleGenAI({
    vertexai: true,
    project: 'sa-proj',
    location,
    apiVersion: 'v1',
    // With a client of its own, the library does not search this machine for credentials.
    googleAuthOptions: { authClient: authClient as never },
    httpOptions: {
      fetch: async (input, init) => {
        const request = new Request(input, init)
        const { url, headers } = request
        asked.push({ url, authorization: headers.get('authorization'), body: await request.json() })
        return new Response(body, { headers: { 'content-type': type } })
      },
    },
  })
  return { client, asked }
}

/** The part of `AuthClient` that the library uses. */
const authClient = {
  getRequestHeaders: async () => new Headers({ authorization: 'Bearer t1' }),
}

/** The upstream request of the gateway, in the same shape. */
async function gatewayAsks(
  location: string,
  upstreamId: string,
  fields: object,
  answer: Responder,
) {
  const { chat, upstream } = await vertexGateway({
    baseUrl: location,
    upstreamId,
    secret: serviceAccount,
  })
  upstream.next(token('t1'), answer)
  const response = await chat(asking(fields))
  const { url, headers } = upstream.requests[1] ?? {}
  const asked = { url, authorization: headers?.['authorization'], body: upstream.body() }
  return { response, asked }
}

const nothing = json({ candidates: [{ finishReason: 'STOP' }] })

describe('addresses of the official client', () => {
  test.each([
    ['us-central1', 'gemini-2.5-flash'],
    ['global', 'gemini-3.8-flash'],
    ['eu', 'gemini-3.8-flash'],
    ['europe-west4', 'publishers/google/models/gemini-2.5-flash'],
    ['us-central1', 'meta/llama-4'],
    ['us-central1', 'projects/q/locations/us-central1/endpoints/7'],
  ])(
    'the gateway uses the same address as the official client: %s, %s',
    async (location, model) => {
      const { client, asked } = vendorClient(location)
      await client.models.generateContent({ model, contents: 'Hi' })
      expect((await gatewayAsks(location, model, {}, nothing)).asked).toEqual(asked[0])
    },
  )
})

const twins: readonly (readonly [
  string,
  object,
  Pick<GenerateContentParameters, 'contents' | 'config'>,
])[] = [
  [
    'instructions, limits and penalties',
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      max_completion_tokens: 9,
      stop: ['END'],
      seed: 4,
      presence_penalty: 0.5,
      frequency_penalty: -0.5,
      reasoning_effort: 'low',
    },
    {
      contents: 'Hi',
      config: {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        maxOutputTokens: 9,
        stopSequences: ['END'],
        seed: 4,
        presencePenalty: 0.5,
        frequencyPenalty: -0.5,
        thinkingConfig: { thinkingLevel: 'LOW' as never, includeThoughts: true },
      },
    },
  ],
  [
    'an object of Cloud Storage, and an answer by schema',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'gs://b/cat.png' } },
          ],
        },
      ],
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'o',
          schema: { type: 'object', properties: { a: { type: 'string' } } },
        },
      },
    },
    {
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'What is it?' },
            { fileData: { mimeType: 'image/png', fileUri: 'gs://b/cat.png' } },
          ],
        },
      ],
      config: {
        responseMimeType: 'application/json',
        responseSchema: { type: 'OBJECT' as never, properties: { a: { type: 'STRING' as never } } },
      },
    },
  ],
  [
    'a call and its result',
    {
      messages: [
        { role: 'user', content: 'W?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'f', arguments: '{"a":"x"}' },
              extra_content: { google: { thought_signature: 'c2ln' } },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: '4' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'f',
            parameters: { type: 'object', properties: { a: { type: 'string' } } },
          },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      // Without limits, the client sends an empty `generationConfig`, and the gateway none.
      max_tokens: 9,
    },
    {
      contents: [
        { role: 'user', parts: [{ text: 'W?' }] },
        {
          role: 'model',
          parts: [
            { functionCall: { id: 'c1', name: 'f', args: { a: 'x' } }, thoughtSignature: 'c2ln' },
          ],
        },
        {
          role: 'user',
          parts: [{ functionResponse: { id: 'c1', name: 'f', response: { output: '4' } } }],
        },
      ],
      config: {
        maxOutputTokens: 9,
        tools: [
          {
            functionDeclarations: [
              {
                name: 'f',
                parameters: {
                  type: 'OBJECT' as never,
                  properties: { a: { type: 'STRING' as never } },
                },
              },
            ],
          },
        ],
        toolConfig: {
          functionCallingConfig: { mode: 'ANY' as never, allowedFunctionNames: ['f'] },
        },
      },
    },
  ],
]

test.each(twins)(
  'the gateway sends the same body as the official client: %s',
  async (_, ours, theirs) => {
    const { client, asked } = vendorClient('global')
    await client.models.generateContent({ model: 'gemini-3.8-flash', ...theirs })
    const { asked: sent } = await gatewayAsks('global', 'gemini-3.8-flash', ours, nothing)
    expect(sent).toEqual(asked[0])
  },
)

test('the gateway reads the same stream as the official client', async () => {
  const events = [
    { parts: [{ text: 'Let me ' }] },
    { parts: [{ text: 'see.' }] },
    { parts: [{ functionCall: { id: 'c1', name: 'f', args: { a: 'ü' } } }] },
    { parts: [{ functionCall: { id: 'c2', name: 'g' } }] },
  ].map(({ parts }) => event({ candidates: [{ content: { role: 'model', parts } }] }))
  const usageMetadata = {
    promptTokenCount: 5,
    candidatesTokenCount: 4,
    thoughtsTokenCount: 3,
    totalTokenCount: 12,
  }
  const chunks = [...events, event({ candidates: [{ finishReason: 'STOP' }], usageMetadata })]

  const { client, asked } = vendorClient('global', chunks.join(''), 'text/event-stream')
  const model = 'gemini-3.8-flash'
  const theirs = { text: '', calls: [] as unknown[], total: 0 }
  for await (const chunk of await client.models.generateContentStream({ model, contents: 'Hi' })) {
    for (const { text = '', functionCall: call } of chunk.candidates?.[0]?.content?.parts ?? []) {
      theirs.text += text
      if (call) theirs.calls.push({ id: call.id, name: call.name, args: call.args ?? {} })
    }
    theirs.total = chunk.usageMetadata?.totalTokenCount ?? theirs.total
  }

  const { response, asked: sent } = await gatewayAsks(
    'global',
    model,
    { stream: true },
    stream(chunks),
  )
  const ours = { text: '', calls: [] as unknown[], total: 0 }
  let opened: { readonly id: string; readonly name: string } | undefined
  for (const payload of await payloads(response)) {
    if (payload === '[DONE]') continue
    const { choices, usage } = payload as Chunk
    const { content = '', tool_calls: [call] = [] } = choices[0].delta
    ours.text += content
    if (call?.id) opened = { id: call.id, name: call.function.name ?? '' }
    else if (call) ours.calls.push({ ...opened, args: JSON.parse(call.function.arguments) })
    ours.total = usage?.total_tokens ?? ours.total
  }
  expect(ours).toEqual(theirs)
  expect(ours).toMatchObject({
    text: 'Let me see.',
    total: 12,
    calls: [{ id: 'c1' }, { id: 'c2' }],
  })
  expect(sent).toEqual(asked[0])
})

/** A chunk of the gateway. */
interface Chunk {
  readonly choices: readonly [
    {
      readonly delta: {
        readonly content?: string
        readonly tool_calls?: readonly {
          readonly id?: string
          readonly function: { readonly name?: string; readonly arguments: string }
        }[]
      }
    },
  ]
  readonly usage?: { readonly total_tokens: number }
}
