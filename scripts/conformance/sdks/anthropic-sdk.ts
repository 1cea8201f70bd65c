/** The Anthropic SDK: https://github.com/anthropics/anthropic-sdk-typescript */
import assert from 'node:assert/strict'
import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
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

const user = { role: 'user' as const, content: question }
const tools = ['weather', 'time'].map((name) => ({ name, input_schema: placeSchema }))
const runnable = ['weather', 'time'].map((name) =>
  betaZodTool({ name, description: 'Knows it', inputSchema: place, run: look }),
)
const thinking = { type: 'enabled' as const, budget_tokens: 4096 }

type Body = Anthropic.MessageCreateParamsNonStreaming
type Send = (body: Body) => Promise<Anthropic.Message>

await runChecks((target) => {
  const { address, key, model } = target
  const client = new Anthropic({ baseURL: address, apiKey: key, maxRetries: 0 })
  const create: Send = async (body) => client.messages.create(body)
  const stream: Send = (body) => client.messages.stream(body).finalMessage()
  const body = (scenario: string, fields: Partial<Body> = {}): Body => ({
    model: model(scenario),
    max_tokens: 8192,
    messages: [user],
    ...fields,
  })

  /** Plays a tool loop to its end, with everything that the model has said in the history. */
  async function loop(scenario: string, send: Send, fields: Partial<Body> = {}) {
    const first = await send(body(scenario, { tools, ...fields }))
    assert.equal(first.stop_reason, 'tool_use')
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
      user,
      { role: 'assistant', content: first.content },
      { role: 'user', content: results },
    ]
    const last = await send(body(scenario, { tools, ...fields, messages }))
    assert.equal(last.stop_reason, 'end_turn')
    return {
      first,
      last,
      history: [...messages, { role: 'assistant' as const, content: last.content }],
    }
  }

  return {
    async say() {
      const { content, stop_reason, usage } = await create(body('say'))
      assert.deepEqual(content.map(textOf), [greeting])
      assert.equal(stop_reason, 'end_turn')
      assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0)
    },
    async 'say, streamed'() {
      const events = await client.messages.create({ ...body('say'), stream: true })
      const deltas: string[] = []
      const types: string[] = []
      for await (const event of events) {
        types.push(event.type)
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
          deltas.push(event.delta.text)
      }
      assert.equal(deltas.join(''), greeting)
      assert.ok(deltas.length > 1, 'the text comes in one piece')
      assert.equal(types[0], 'message_start')
      assert.equal(types.at(-1), 'message_stop')
    },
    async 'say, stream helper'() {
      const { content, usage } = await stream(body('say'))
      assert.deepEqual(content.map(textOf), [greeting])
      assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0)
    },
    async think() {
      const thought = await create(body('think', { thinking }))
      assert.equal(thoughtsOf(thought), reasoning)
      assert.equal(textOf(thought.content.at(-1)), greeting)
    },
    async 'think, stream helper'() {
      const thought = await stream(body('think', { thinking }))
      assert.equal(thoughtsOf(thought), reasoning)
      assert.equal(textOf(thought.content.at(-1)), greeting)
    },
    async 'think, tool'() {
      const { first, last } = await loop('tool', create, { thinking })
      assert.deepEqual([first, last].map(thoughtsOf), [reasoning, reasoning])
    },
    async 'think, tool, stream helper'() {
      const { first, last } = await loop('tool', stream, { thinking })
      assert.deepEqual([first, last].map(thoughtsOf), [reasoning, reasoning])
    },
    async tool() {
      const { last, history } = await loop('tool', create)
      assert.equal(textOf(last.content.at(-1)), repeatedOne)
      const again = await create(body('tool', { tools, messages: [...history, user] }))
      assert.equal(again.stop_reason, 'tool_use')
    },
    async 'tool, stream helper'() {
      const { last } = await loop('tool', stream)
      assert.equal(textOf(last.content.at(-1)), repeatedOne)
    },
    async 'tool, runner'() {
      const { messages } = client.beta
      const final = await messages.toolRunner({
        ...body('tool'),
        messages: [user],
        tools: runnable,
      })
      assert.equal(textOf(final.content.at(-1)), repeatedOne)
    },
    async 'tool, streamed runner'() {
      const params = { ...body('tool'), messages: [user], tools: runnable, stream: true as const }
      let text = ''
      for await (const turn of client.beta.messages.toolRunner(params))
        text = textOf((await turn.finalMessage()).content.at(-1))
      assert.equal(text, repeatedOne)
    },
    async parallel() {
      const { last } = await loop('parallel', create)
      assert.equal(textOf(last.content.at(-1)), repeatedTwo)
    },
    async 'parallel, stream helper'() {
      const { last } = await loop('parallel', stream, { thinking })
      assert.equal(textOf(last.content.at(-1)), repeatedTwo)
    },
    async 'parallel, runner'() {
      const { messages } = client.beta
      const params = { ...body('parallel'), messages: [user], tools: runnable }
      const final = await messages.toolRunner(params)
      assert.equal(textOf(final.content.at(-1)), repeatedTwo)
    },
    async structured() {
      const format = zodOutputFormat(forecast)
      const params = body('structured', { output_config: { format } })
      const { parsed_output } = await client.messages.parse({
        ...params,
        output_config: { format },
      })
      assert.deepEqual(parsed_output, expectedForecast)
    },
    async refuse() {
      await assert.rejects(create(body('refuse')), (error) => {
        assert.ok(error instanceof Anthropic.BadRequestError)
        assert.equal(error.type, 'invalid_request_error')
        assert.match(error.message, /refuses every request/)
        return true
      })
    },
    async 'refuse, streamed'() {
      await assert.rejects(stream(body('refuse')), Anthropic.BadRequestError)
    },
    async 'rate-limited'() {
      await assert.rejects(create(body('rate-limited')), (error) => {
        assert.ok(error instanceof Anthropic.RateLimitError)
        assert.equal(error.type, 'rate_limit_error')
        assert.equal(error.headers?.get('retry-after'), '1')
        return true
      })
    },
    async cut() {
      await assert.rejects(create(body('cut')), Anthropic.InternalServerError)
    },
    async 'cut, streamed'() {
      const helper = client.messages.stream(body('cut'))
      let text = ''
      helper.on('text', (delta) => (text += delta))
      await assert.rejects(helper.finalMessage(), Anthropic.APIError)
      assert.ok(text.length > 0 && greeting.startsWith(text), 'the text before the cut is lost')
    },
    async 'count tokens'() {
      const { input_tokens } = await client.messages.countTokens({
        model: model('say'),
        messages: [user],
        tools,
      })
      assert.ok(input_tokens > 0)
    },
    async models() {
      const ids: string[] = []
      for await (const { id } of client.models.list({ limit: 5 })) ids.push(id)
      assert.ok(ids.includes(model('say')))
      assert.equal(new Set(ids).size, ids.length)
    },
    async 'unknown model'() {
      await assert.rejects(
        create({ ...body('say'), model: 'no-such-model' }),
        Anthropic.NotFoundError,
      )
    },
    async 'wrong key'() {
      const stranger = new Anthropic({ baseURL: address, apiKey: 'wrong', maxRetries: 0 })
      await assert.rejects(stranger.messages.create(body('say')), Anthropic.AuthenticationError)
    },
    ...onCompatible(target, {
      async 'long name, no parameters'() {
        const wide = [
          { name: longName, input_schema: placeSchema },
          { name: 'now', input_schema: noParameters },
        ]
        const first = await stream(body('parallel', { tools: wide, thinking }))
        const calls = first.content.filter((block) => block.type === 'tool_use')
        assert.deepEqual(
          calls.map(({ name }) => name),
          [longName, 'now'],
        )
        const results = calls.map(({ id, name, input }) => ({
          type: 'tool_result' as const,
          tool_use_id: id,
          content: name === 'now' ? 'noon' : look(place.parse(input)),
        }))
        const messages: Anthropic.MessageParam[] = [
          user,
          { role: 'assistant', content: first.content },
          { role: 'user', content: results },
        ]
        const last = await stream(body('parallel', { tools: wide, thinking, messages }))
        assert.equal(textOf(last.content.at(-1)), repeatedWide)
      },
      async 'late instructions, interrupted call'() {
        const system = 'Answer.'
        const first = await create(body('parallel', { system, tools, thinking }))
        const messages = [
          user,
          { role: 'assistant', content: first.content },
          { role: 'user', content: 'Stop. The weather only.' },
          { role: 'system', content: 'Today is Monday.' },
          // The type of the SDK does not have the role.
        ] as Anthropic.MessageParam[]
        const again = await create(body('tool', { system, tools, thinking, messages }))
        assert.ok(again.content.length > 0)
      },
    }),
    ...withImages(target, {
      async picture() {
        const source = {
          type: 'base64' as const,
          media_type: 'image/png' as const,
          data: pictureData,
        }
        const messages = [{ role: 'user' as const, content: [{ type: 'image' as const, source }] }]
        const { content } = await create(body('say', { messages }))
        assert.equal(textOf(content.at(-1)), greeting)
      },
    }),
  }
})

function textOf(block: { readonly type: string; readonly text?: string } | undefined): string {
  return block?.type === 'text' ? (block.text ?? '') : `a block of type ${block?.type}`
}

function thoughtsOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join('')
}
