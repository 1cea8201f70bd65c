import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import Anthropic from '@anthropic-ai/sdk'
import {
  BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  ConverseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { upstreamKey } from './dialect.ts'
import { greeting } from './scenario.ts'
import { startUpstream } from './server.ts'

/** Talks to the upstream with the vendors' own clients. Throws when one does not understand it. */
export async function runSelfTest(): Promise<void> {
  const upstream = await startUpstream()
  for (const test of [testOpenAI, testAnthropic, testGoogle, testBedrock]) {
    await test(upstream.address)
    process.stdout.write(`${test.name}: passed\n`)
  }
  await upstream.close()
}

const question = 'What is the weather?'
const schema = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const result = 'sunny'
const repeated = 'The result: sunny.'

async function testOpenAI(address: string): Promise<void> {
  const client = new OpenAI({ baseURL: `${address}/openai/v1`, apiKey: upstreamKey, maxRetries: 0 })
  const { completions } = client.chat
  const user = { role: 'user' as const, content: question }
  const stream = completions.stream({
    model: 'say',
    messages: [user],
    stream_options: { include_usage: true },
  })
  const said = await stream.finalChatCompletion()
  assert.equal(said.choices[0]?.message.content, greeting)
  assert.ok(said.usage)
  const tools = [
    { type: 'function' as const, function: { name: 'weather', parameters: schema, strict: true } },
  ]
  const first = await completions.create({ model: 'parallel', messages: [user], tools })
  const message = first.choices[0]?.message
  const calls = message?.tool_calls ?? []
  assert.ok(message && calls.length === 2)
  const results = calls.map(({ id }) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: result,
  }))
  const { refusal: _, ...past } = message
  const last = await completions.create({
    model: 'tool',
    messages: [user, past, ...results],
    tools,
  })
  assert.match(last.choices[0]?.message.content ?? '', /sunny and sunny/)
  const unanswered = completions.create({ model: 'tool', messages: [user, past], tools })
  await assert.rejects(unanswered, /did not have response messages/)
  await assert.rejects(completions.create({ model: 'refuse', messages: [user] }), { status: 400 })
  await assert.rejects(completions.create({ model: 'cut', messages: [user] }))
}

async function testAnthropic(address: string): Promise<void> {
  const client = new Anthropic({
    baseURL: `${address}/anthropic`,
    apiKey: upstreamKey,
    maxRetries: 0,
  })
  const base = { max_tokens: 2048 }
  const user = { role: 'user' as const, content: question }
  const said = await client.messages.stream({ ...base, model: 'say', messages: [user] }).finalText()
  assert.equal(said, greeting)
  const tools = [{ name: 'weather', input_schema: schema }]
  const loop = {
    ...base,
    model: 'tool',
    tools,
    thinking: { type: 'enabled' as const, budget_tokens: 1024 },
  }
  const first = await client.messages.stream({ ...loop, messages: [user] }).finalMessage()
  const call = first.content.find((block) => block.type === 'tool_use')
  assert.ok(call && first.content[0]?.type === 'thinking')
  const reply = (content: Anthropic.ContentBlockParam[]) =>
    client.messages.create({
      ...loop,
      messages: [
        user,
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: result }] },
      ],
    })
  const answered = await reply(first.content)
  assert.deepEqual(answered.content.at(-1), { type: 'text', text: repeated })
  await assert.rejects(reply([call]), /must start with a thinking block/)
  await assert.rejects(
    reply(first.content.filter((block) => block.type !== 'redacted_thinking')),
    /Invalid `signature`/,
  )
  const altered = { ...first.content[0], thinking: 'something else' }
  await assert.rejects(reply([altered, ...first.content.slice(1)]), /Invalid `signature`/)
  const overloaded = client.messages.create({ ...base, model: 'overloaded', messages: [user] })
  await assert.rejects(overloaded, { status: 529 })
}

async function testGoogle(address: string): Promise<void> {
  const httpOptions = { baseUrl: `${address}/google`, apiVersion: 'v1beta' }
  const { models } = new GoogleGenAI({ apiKey: upstreamKey, httpOptions })
  let said = ''
  for await (const chunk of await models.generateContentStream({
    model: 'say',
    contents: question,
  }))
    said += chunk.text ?? ''
  assert.equal(said, greeting)
  const config = {
    tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: schema }] }],
  }
  const user = { role: 'user', parts: [{ text: question }] }
  const first = await models.generateContent({ model: 'tool', contents: [user], config })
  const content = first.candidates?.[0]?.content
  const { id = '', name = '' } = first.functionCalls?.[0] ?? {}
  const results = { functionResponse: { id, name, response: { output: result } } }
  const answered = await models.generateContent({
    model: 'tool',
    contents: [user, content ?? {}, { role: 'user', parts: [results] }],
    config,
  })
  assert.equal(answered.text, repeated)
  const parts = (content?.parts ?? []).flatMap(({ functionCall: call }) =>
    call ? [{ functionCall: call }] : [],
  )
  const unsigned = [user, { role: 'model', parts }, { role: 'user', parts: [results] }]
  const refused = models.generateContent({ model: 'tool', contents: unsigned, config })
  await assert.rejects(refused, /missing a thought_signature/)
}

async function testBedrock(address: string): Promise<void> {
  const client = new BedrockRuntimeClient({
    endpoint: `${address}/bedrock`,
    region: 'us-east-1',
    token: { token: upstreamKey },
    authSchemePreference: ['httpBearerAuth'],
    maxAttempts: 1,
    requestHandler: { handle },
  })
  const user = { role: 'user' as const, content: [{ text: question }] }
  const stream = await client.send(new ConverseStreamCommand({ modelId: 'say', messages: [user] }))
  let said = ''
  for await (const event of stream.stream ?? []) said += event.contentBlockDelta?.delta?.text ?? ''
  assert.equal(said, greeting)
  const loop = {
    modelId: 'tool',
    toolConfig: { tools: [{ toolSpec: { name: 'weather', inputSchema: { json: schema } } }] },
    additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1024 } },
  }
  const first = await client.send(new ConverseCommand({ ...loop, messages: [user] }))
  const content = first.output?.message?.content ?? []
  const id = content.find(({ toolUse }) => toolUse)?.toolUse?.toolUseId
  const reply = (past: ContentBlock[]) =>
    client.send(
      new ConverseCommand({
        ...loop,
        messages: [
          user,
          { role: 'assistant', content: past },
          {
            role: 'user',
            content: [{ toolResult: { toolUseId: id, content: [{ text: result }] } }],
          },
        ],
      }),
    )
  const answered = await reply(content)
  assert.equal(answered.output?.message?.content?.at(-1)?.text, repeated)
  const calls = content.filter(({ toolUse }) => toolUse)
  await assert.rejects(reply(calls), /must start with a thinking block/)
}

/** A request inside of Amazon's client. */
interface Outgoing {
  readonly hostname: string
  readonly port: number
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: Uint8Array
}

/** Replaces the HTTP/2 that Amazon's client uses by default. */
async function handle({ hostname, port, path, headers, body }: Outgoing) {
  const url = `http://${hostname}:${port}${path}`
  const answer = await fetch(url, { method: 'POST', headers, body: Buffer.from(body) })
  const whole = Readable.from([Buffer.from(await answer.arrayBuffer())])
  const head = { statusCode: answer.status, headers: Object.fromEntries(answer.headers) }
  return { response: { ...head, body: whole } }
}
