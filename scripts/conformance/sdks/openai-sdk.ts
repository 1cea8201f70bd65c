/** The OpenAI SDK with the Responses API: https://github.com/openai/openai-node */
import assert from 'node:assert/strict'
import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import type {
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import {
  expectedForecast,
  forecast,
  greeting,
  longName,
  look,
  noParameters,
  onCompatible,
  pictureData,
  place,
  placeSchema,
  question,
  reasoning,
  repeatedOne,
  repeatedTwo,
  repeatedWide,
  runChecks,
  withImages,
} from './checks.ts'

const tools = ['weather', 'time'].map((name) => ({
  type: 'function' as const,
  name,
  description: 'Knows it',
  parameters: placeSchema,
  strict: true,
}))
const effort = { reasoning: { effort: 'high' as const, summary: 'auto' as const } }
const user: ResponseInputItem = { role: 'user', content: question }

type Body = Omit<ResponseCreateParamsNonStreaming, 'stream'>
type Send = (body: Body) => Promise<Response>

await runChecks((target) => {
  const { address, key, model } = target
  const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 })
  const create: Send = async (body) => client.responses.create(body)
  const stream: Send = (body) => client.responses.stream(body).finalResponse()
  const body = (scenario: string, fields: Partial<Body> = {}): Body => ({
    model: model(scenario),
    input: [user],
    store: false,
    ...fields,
  })

  /** Plays a tool loop to its end, with everything that the model has said in the history. */
  async function loop(scenario: string, send: Send, fields: Partial<Body> = {}) {
    const first = await send(body(scenario, { tools, ...fields }))
    assert.equal(first.status, 'completed')
    const results = first.output.flatMap((item): ResponseInputItem[] =>
      item.type === 'function_call'
        ? [
            {
              type: 'function_call_output',
              call_id: item.call_id,
              output: look(place.parse(JSON.parse(item.arguments))),
            },
          ]
        : [],
    )
    const input = [user, ...(first.output as ResponseInputItem[]), ...results]
    const last = await send(body(scenario, { tools, ...fields, input }))
    return { first, last, history: [...input, ...(last.output as ResponseInputItem[])] }
  }

  return {
    async say() {
      const { output_text, usage, status } = await create(body('say', { input: question }))
      assert.equal(output_text, greeting)
      assert.equal(status, 'completed')
      assert.ok(usage && usage.input_tokens > 0 && usage.output_tokens > 0)
    },
    async 'say, streamed'() {
      const events = await client.responses.create({ ...body('say'), stream: true })
      const deltas: string[] = []
      const types: string[] = []
      let next = 0
      for await (const event of events) {
        types.push(event.type)
        assert.equal(event.sequence_number, next++)
        if (event.type === 'response.output_text.delta') deltas.push(event.delta)
      }
      assert.equal(deltas.join(''), greeting)
      assert.ok(deltas.length > 1, 'the text comes in one piece')
      assert.equal(types[0], 'response.created')
      assert.equal(types.at(-1), 'response.completed')
    },
    async 'say, stream helper'() {
      const { output_text, usage } = await stream(body('say', { store: true }))
      assert.equal(output_text, greeting)
      assert.ok(usage && usage.input_tokens > 0 && usage.output_tokens > 0)
    },
    async think() {
      const thought = await create(body('think', effort))
      assert.equal(thoughtsOf(thought), reasoning)
      assert.equal(thought.output_text, greeting)
    },
    async 'think, stream helper'() {
      const thought = await stream(body('think', effort))
      assert.equal(thoughtsOf(thought), reasoning)
      assert.equal(thought.output_text, greeting)
    },
    async 'think, tool'() {
      const { first, last } = await loop('tool', create, effort)
      assert.deepEqual([first, last].map(thoughtsOf), [reasoning, reasoning])
    },
    async 'think, tool, stream helper'() {
      const { first, last } = await loop('tool', stream, effort)
      assert.deepEqual([first, last].map(thoughtsOf), [reasoning, reasoning])
    },
    async tool() {
      const { last, history } = await loop('tool', create)
      assert.equal(last.output_text, repeatedOne)
      const again = await create(body('tool', { tools, input: [...history, user] }))
      assert.equal(again.output.at(-1)?.type, 'function_call')
    },
    async 'tool, stream helper'() {
      const { last } = await loop('tool', stream, effort)
      assert.equal(last.output_text, repeatedOne)
    },
    async parallel() {
      const { last } = await loop('parallel', create)
      assert.equal(last.output_text, repeatedTwo)
    },
    async 'parallel, stream helper'() {
      const { last } = await loop('parallel', stream, effort)
      assert.equal(last.output_text, repeatedTwo)
    },
    async structured() {
      const format = zodTextFormat(forecast, 'forecast')
      const { output_parsed } = await client.responses.parse({
        ...body('structured'),
        text: { format },
      })
      assert.deepEqual(output_parsed, expectedForecast)
    },
    async 'structured, stream helper'() {
      const format = zodTextFormat(forecast, 'forecast')
      const helper = client.responses.stream({ ...body('structured'), text: { format } })
      assert.deepEqual((await helper.finalResponse()).output_parsed, expectedForecast)
    },
    async refuse() {
      await assert.rejects(create(body('refuse')), (error) => {
        assert.ok(error instanceof OpenAI.BadRequestError)
        assert.match(error.message, /refuses every request/)
        return true
      })
    },
    async 'refuse, streamed'() {
      await assert.rejects(stream(body('refuse')), OpenAI.BadRequestError)
    },
    async 'rate-limited'() {
      await assert.rejects(create(body('rate-limited')), (error) => {
        assert.ok(error instanceof OpenAI.RateLimitError)
        assert.equal(error.code, 'rate_limit_exceeded')
        assert.equal(error.headers?.get('retry-after'), '1')
        return true
      })
    },
    async cut() {
      await assert.rejects(create(body('cut')), OpenAI.InternalServerError)
    },
    async 'cut, streamed'() {
      const events = await client.responses.create({ ...body('cut'), stream: true })
      let text = ''
      let last: string | undefined
      for await (const event of events) {
        last = event.type
        if (event.type === 'response.output_text.delta') text += event.delta
      }
      assert.equal(last, 'response.failed')
      assert.ok(text.length > 0 && greeting.startsWith(text), 'the text before the cut is lost')
    },
    async 'unknown model'() {
      await assert.rejects(create({ ...body('say'), model: 'no-such-model' }), OpenAI.NotFoundError)
    },
    async 'wrong key'() {
      const stranger = new OpenAI({ baseURL: `${address}/v1`, apiKey: 'wrong', maxRetries: 0 })
      await assert.rejects(stranger.responses.create(body('say')), OpenAI.AuthenticationError)
    },
    ...onCompatible(target, {
      async 'long name, no parameters'() {
        const wide = [
          { type: 'function' as const, name: longName, parameters: placeSchema, strict: true },
          { type: 'function' as const, name: 'now', parameters: noParameters, strict: false },
        ]
        const first = await stream(body('parallel', { tools: wide, ...effort }))
        const calls = first.output.filter((item) => item.type === 'function_call')
        assert.deepEqual(
          calls.map(({ name }) => name),
          [longName, 'now'],
        )
        const results = calls.map(({ call_id, name, arguments: json }) => ({
          type: 'function_call_output' as const,
          call_id,
          output: name === 'now' ? 'noon' : look(place.parse(JSON.parse(json))),
        }))
        const input = [user, ...(first.output as ResponseInputItem[]), ...results]
        const last = await stream(body('parallel', { tools: wide, ...effort, input }))
        assert.equal(last.output_text, repeatedWide)
      },
      async 'late instructions, interrupted call'() {
        const instructions = 'Answer.'
        const first = await create(body('parallel', { instructions, tools, ...effort }))
        const input: ResponseInputItem[] = [
          user,
          ...(first.output as ResponseInputItem[]),
          { role: 'user', content: 'Stop. The weather only.' },
          { role: 'developer', content: 'Today is Monday.' },
        ]
        const again = await create(body('tool', { instructions, tools, ...effort, input }))
        assert.equal(again.status, 'completed')
      },
    }),
    ...withImages(target, {
      async picture() {
        const image_url = `data:image/png;base64,${pictureData}`
        const content = [{ type: 'input_image' as const, image_url, detail: 'auto' as const }]
        const { output_text } = await create(body('say', { input: [{ role: 'user', content }] }))
        assert.equal(output_text, greeting)
      },
    }),
  }
})

function thoughtsOf({ output }: Response): string {
  const parts = output.flatMap((item) => (item.type === 'reasoning' ? item.summary : []))
  return parts.map(({ text }) => text).join('')
}
