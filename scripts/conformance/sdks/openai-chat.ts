/** The OpenAI SDK with chat completions. */
import assert from 'node:assert/strict'
import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import type {
  ChatCompletion,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import {
  expectedForecast,
  forecast,
  greeting,
  look,
  place,
  placeSchema,
  question,
  repeatedOne,
  repeatedTwo,
  runChecks,
} from './checks.ts'

const tools = ['weather', 'time'].map((name) => ({
  type: 'function' as const,
  function: { name, description: 'Knows it', parameters: placeSchema, strict: true },
}))
const runnable = ['weather', 'time'].map((name) => ({
  type: 'function' as const,
  function: {
    name,
    description: 'Knows it',
    parameters: placeSchema,
    parse: (json: string) => place.parse(JSON.parse(json)),
    function: look,
  },
}))
const user: ChatCompletionMessageParam = { role: 'user', content: question }

type Body = Omit<ChatCompletionCreateParamsNonStreaming, 'stream'>
type Send = (body: Body) => Promise<ChatCompletion>

await runChecks(({ address, key, model }) => {
  const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 })
  const { completions } = client.chat
  const create: Send = async (body) => completions.create(body)
  const stream: Send = async (body) => completions.stream(body).finalChatCompletion()
  const body = (scenario: string, fields: Partial<Body> = {}): Body => ({
    model: model(scenario),
    messages: [user],
    ...fields,
  })

  /** Plays a tool loop to its end. Whole messages go back, with fields that the SDK does not know. */
  async function loop(scenario: string, send: Send, fields: Partial<Body> = {}) {
    const first = (await send(body(scenario, { tools, ...fields }))).choices[0]
    assert.equal(first?.finish_reason, 'tool_calls')
    const results = (first.message.tool_calls ?? []).map((call) => ({
      role: 'tool' as const,
      tool_call_id: call.id,
      content: look(place.parse(call.type === 'function' && JSON.parse(call.function.arguments))),
    }))
    const messages = [user, first.message, ...results]
    const last = (await send(body(scenario, { tools, ...fields, messages }))).choices[0]
    return last?.message.content
  }

  return {
    async say() {
      const { choices, usage } = await create(body('say'))
      assert.equal(choices[0]?.message.content, greeting)
      assert.ok(usage && usage.prompt_tokens > 0 && usage.completion_tokens > 0)
    },
    async 'say, streamed'() {
      const chunks = await completions.create({ ...body('say'), stream: true })
      const deltas: string[] = []
      for await (const { choices } of chunks) deltas.push(choices[0]?.delta.content ?? '')
      assert.equal(deltas.join(''), greeting)
      assert.ok(deltas.filter(Boolean).length > 1, 'the text comes in one piece')
    },
    async tool() {
      assert.equal(await loop('tool', create), repeatedOne)
    },
    async 'tool, stream helper'() {
      assert.equal(await loop('tool', stream), repeatedOne)
    },
    async 'tool, runner'() {
      const runner = completions.runTools({ ...body('tool'), tools: runnable })
      assert.equal(await runner.finalContent(), repeatedOne)
    },
    async parallel() {
      assert.equal(await loop('parallel', create), repeatedTwo)
    },
    async 'parallel, streamed runner'() {
      const params = { ...body('parallel'), tools: runnable, stream: true as const }
      assert.equal(await completions.runTools(params).finalContent(), repeatedTwo)
    },
    async structured() {
      const response_format = zodResponseFormat(forecast, 'forecast')
      const { choices } = await completions.parse({ ...body('structured'), response_format })
      assert.deepEqual(choices[0]?.message.parsed, expectedForecast)
    },
    async refuse() {
      await assert.rejects(create(body('refuse')), OpenAI.BadRequestError)
    },
    async 'rate-limited'() {
      await assert.rejects(create(body('rate-limited')), OpenAI.RateLimitError)
    },
    async cut() {
      await assert.rejects(create(body('cut')), OpenAI.InternalServerError)
    },
    async 'cut, streamed'() {
      const helper = completions.stream(body('cut'))
      let text = ''
      helper.on('content', (delta) => {
        text += delta
      })
      await assert.rejects(helper.finalChatCompletion(), OpenAI.APIError)
      assert.ok(text.length > 0 && greeting.startsWith(text), 'the text before the cut is lost')
    },
  }
})
