import { type GenerateContentParameters, GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { providerKey } from '../../support/gateway.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { answered, asking, end, event, googleGateway, type SentBody, saying } from './support.ts'

const newer = 'gemini-3.5-flash'

/** The official OpenAI client, connected to the gateway. */
async function clientOf(upstreamId = newer) {
  const { gateway, upstream } = await googleGateway({ upstreamId })
  const client = new OpenAI({
    baseURL: 'http://gateway.test/v1',
    apiKey: 'any',
    maxRetries: 0,
    fetch: async (input, init) => gateway.fetch(new Request(input, init)),
  })
  return { client, upstream }
}

const question = { role: 'user' as const, content: 'Weather in Oslo and Rome?' }

const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}

/** Two parallel calls; the vendor signs the first. */
const parts = [
  { text: 'Let me see.' },
  {
    functionCall: { id: 'fc-1', name: 'weather', args: { city: 'Oslo' } },
    thoughtSignature: 'YQ==',
  },
  { functionCall: { id: 'fc-2', name: 'weather', args: { city: 'Rome' } } },
]

/** The expected contents of the next request: the model's parts unchanged, and the results. */
const secondLeg = [
  { role: 'user', parts: [{ text: question.content }] },
  { role: 'model', parts },
  {
    role: 'user',
    parts: ['fc-1', 'fc-2'].map((id) => ({
      functionResponse: { id, name: 'weather', response: { output: '4' } },
    })),
  },
]

describe('the official openai package', () => {
  const request = { model: 'g', messages: [question], tools: [weather] }
  const asEvents = parts.map((part) => event(answered([part])))

  /** Returns the upstream contents when the message is sent back with a result for each call. */
  async function sendBack(message: OpenAI.ChatCompletionMessage | undefined) {
    if (!message) throw new Error('there was no message')
    const { client, upstream } = await clientOf()
    upstream.next(json(saying('Cold.')))
    const results = (message.tool_calls ?? []).map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: '4',
    }))
    const messages = [question, message, ...results]
    const { choices } = await client.chat.completions.create({ ...request, messages })
    expect(choices[0]?.message.content).toBe('Cold.')
    return (upstream.body() as SentBody).contents
  }

  test('the official openai package returns a thought signature of an answer', async () => {
    const { client, upstream } = await clientOf()
    upstream.next(json(answered(parts, { finishReason: 'STOP' })))
    const { choices } = await client.chat.completions.create(request)
    expect(await sendBack(choices[0]?.message)).toEqual(secondLeg)
  })

  test('the official openai package returns a thought signature of a stream', async () => {
    const { client, upstream } = await clientOf()
    upstream.next(stream([...asEvents, end]))
    const { choices } = await client.chat.completions.stream(request).finalChatCompletion()
    expect(await sendBack(choices[0]?.message)).toEqual(secondLeg)
  })

  test('the placeholder replaces the signature that the tool runner of the openai package loses', async () => {
    const { client, upstream } = await clientOf()
    upstream.next(stream([...asEvents, end]), stream([event(saying('Cold.'))]))
    const run = {
      ...weather.function,
      description: 'The weather of a city',
      parse: (text: string) => JSON.parse(text) as { city: string },
      function: ({ city }: { city: string }) => `${city.length}`,
    }
    const runner = client.chat.completions.runTools({
      ...request,
      stream: true,
      tools: [{ type: 'function', function: run }],
    })
    expect(await runner.finalContent()).toBe('Cold.')
    const [, model, results] = (upstream.body() as SentBody).contents
    expect(model?.parts.map(({ thoughtSignature }) => thoughtSignature)).toEqual([
      undefined,
      'skip_thought_signature_validator',
      undefined,
    ])
    expect(results).toEqual(secondLeg[2])
  })

  test('the official openai package accumulates reasoning, calls and usage of a stream', async () => {
    const { client, upstream } = await clientOf()
    const thought = event(answered([{ text: 'Hm.', thought: true }]))
    upstream.next(stream([thought, ...asEvents, end]))
    const { choices, usage } = await client.chat.completions
      .stream({ ...request, stream_options: { include_usage: true } })
      .finalChatCompletion()
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'Let me see.',
        tool_calls: [
          { id: 'fc-1', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
          { id: 'fc-2', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
        ],
      },
    })
    expect(usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 })
  })
})

/** Google's own client, with a scripted answer; it records its requests. */
function vendorClient(body = '{}', type = 'application/json') {
  const asked: { url: string; key: string | null; body: unknown }[] = []
  const client = new GoogleGenAI({
    apiKey: providerKey,
    apiVersion: 'v1beta',
    httpOptions: {
      fetch: async (input, init) => {
        const request = new Request(input, init)
        const { url, headers } = request
        asked.push({ url, key: headers.get('x-goog-api-key'), body: await request.json() })
        return new Response(body, { headers: { 'content-type': type } })
      },
    },
  })
  return { client, asked }
}

/** The upstream request of the gateway, in the same shape. */
async function gatewayAsks(upstreamId: string, fields: object) {
  const { chat, upstream } = await googleGateway({ upstreamId })
  upstream.next(json(saying('Hi')))
  await chat(asking(fields))
  const { url, headers } = upstream.requests[0] ?? {}
  return { url, key: headers?.['x-goog-api-key'], body: upstream.body() }
}

const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }

const twins: readonly (readonly [
  string,
  object,
  Pick<GenerateContentParameters, 'contents' | 'config'>,
])[] = [
  [
    'instructions and every setting',
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      max_tokens: 9,
      temperature: 0.5,
      top_p: 0.25,
      top_k: 3,
      stop: 'END',
      seed: 4,
      n: 2,
      logprobs: true,
      top_logprobs: 2,
      reasoning_effort: 'low',
      service_tier: 'flex',
      response_format: { type: 'json_object' },
    },
    {
      contents: 'Hi',
      config: {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        maxOutputTokens: 9,
        temperature: 0.5,
        topP: 0.25,
        topK: 3,
        stopSequences: ['END'],
        seed: 4,
        candidateCount: 2,
        responseLogprobs: true,
        logprobs: 2,
        thinkingConfig: { thinkingBudget: 1024, includeThoughts: true },
        serviceTier: 'flex' as never,
        responseMimeType: 'application/json',
      },
    },
  ],
  [
    'an image, a file and audio',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
            { type: 'image_url', image_url: { url: 'gs://b/cat.png' } },
            { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
            { type: 'text', text: 'Compare.' },
          ],
        },
      ],
      max_tokens: 9,
    },
    {
      contents: [
        {
          role: 'user',
          parts: [
            { inlineData: { mimeType: 'image/png', data: 'iVBO' } },
            { fileData: { mimeType: 'image/png', fileUri: 'gs://b/cat.png' } },
            { inlineData: { mimeType: 'audio/wav', data: 'UklG' } },
            { text: 'Compare.' },
          ],
        },
      ],
      config: { maxOutputTokens: 9 },
    },
  ],
  [
    'calls, results and a forced function',
    {
      messages: [
        { role: 'user', content: 'Go' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"x"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: '4' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      max_tokens: 9,
    },
    {
      contents: [
        { role: 'user', parts: [{ text: 'Go' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: { a: 'x' } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: '4' } } }] },
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
                  required: ['a'],
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
  [
    'a schema as JSON Schema',
    {
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'm',
          schema: {
            type: 'object',
            properties: { m: { type: 'object', additionalProperties: { type: 'integer' } } },
          },
        },
      },
    },
    {
      contents: 'Hi',
      config: {
        responseMimeType: 'application/json',
        responseJsonSchema: {
          type: 'object',
          properties: { m: { type: 'object', additionalProperties: { type: 'integer' } } },
        },
      },
    },
  ],
]

describe('the official @google/genai package', () => {
  test.each(twins)(
    'the gateway sends the same request as the official @google/genai package: %s',
    async (_, ours, theirs) => {
      const { client, asked } = vendorClient()
      const model = 'gemini-2.5-flash'
      await client.models.generateContent({ model, ...theirs })
      expect(await gatewayAsks(model, ours)).toEqual(asked[0])
    },
  )

  test.each(['models/gemini-2.5-flash', 'tunedModels/mine'])(
    'the gateway uses the same address for %s as the official @google/genai package',
    async (model) => {
      const { client, asked } = vendorClient()
      await client.models.generateContent({ model, contents: 'Hi', config: { seed: 1 } })
      expect(await gatewayAsks(model, { seed: 1 })).toEqual(asked[0])
    },
  )

  test('the gateway reads the same stream as the official @google/genai package', async () => {
    const events = [...parts.map((part) => event(answered([part]))), end]
    const { client, asked } = vendorClient(events.join(''), 'text/event-stream')
    const theirs = { text: '', calls: [] as object[], total: 0 }
    const chunks = await client.models.generateContentStream({
      model: newer,
      contents: question.content,
      config: { seed: 1 },
    })
    for await (const chunk of chunks) {
      for (const { text = '', functionCall: call } of chunk.candidates?.[0]?.content?.parts ?? []) {
        theirs.text += text
        if (call) theirs.calls.push({ id: call.id, name: call.name, args: call.args })
      }
      theirs.total = chunk.usageMetadata?.totalTokenCount ?? theirs.total
    }

    const { client: openai, upstream } = await clientOf()
    upstream.next(stream(events))
    const { choices, usage } = await openai.chat.completions
      .stream({
        model: 'g',
        messages: [question],
        seed: 1,
        stream_options: { include_usage: true },
      })
      .finalChatCompletion()
    const { content, tool_calls: calls = [] } = choices[0]?.message ?? {}
    const ours = {
      text: content,
      calls: calls.flatMap((call) =>
        call.type === 'function'
          ? [{ id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) }]
          : [],
      ),
      total: usage?.total_tokens,
    }
    expect(ours).toEqual(theirs)
    expect(upstream.requests[0]?.url).toBe(asked[0]?.url)
    expect(upstream.body()).toEqual(asked[0]?.body)
  })
})
