/** Google's SDK: https://github.com/googleapis/js-genai */
import assert from 'node:assert/strict'
import {
  ApiError,
  type Content,
  type GenerateContentConfig,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
} from '@google/genai'
import { z } from 'zod'
import {
  expectedForecast,
  forecast,
  greeting,
  longName,
  look,
  noParameters,
  onCompatible,
  onEmbedding,
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

const user: Content = { role: 'user', parts: [{ text: question }] }
const functions = ['weather', 'time'].map((name) => ({
  name,
  description: 'Knows it',
  parametersJsonSchema: placeSchema,
}))
const tools = [{ functionDeclarations: functions }]
const thinkingConfig = { includeThoughts: true, thinkingBudget: 4096 }

/** Asks for an answer, and returns its parts. */
type Send = (request: {
  readonly model: string
  readonly contents: Content[]
  readonly config?: GenerateContentConfig
}) => Promise<readonly Part[]>

await runChecks((target) => {
  const { address, key, model } = target
  const connect = (apiKey: string) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: address } })
  const client = connect(key)
  const create: Send = async (request) => partsOf(await client.models.generateContent(request))
  const stream: Send = async (request) => {
    const parts: Part[] = []
    let finish: string | undefined
    for await (const chunk of await client.models.generateContentStream(request)) {
      parts.push(...partsOf(chunk))
      finish = chunk.candidates?.[0]?.finishReason ?? finish
    }
    assert.equal(finish, 'STOP')
    return parts
  }
  const ask = (scenario: string, config: GenerateContentConfig = {}) => ({
    model: model(scenario),
    contents: [user],
    config,
  })

  /** Plays a tool loop to its end, with everything that the model has said in the history. */
  async function loop(scenario: string, send: Send, config: GenerateContentConfig = { tools }) {
    const first = await send(ask(scenario, config))
    const results = listCalls(first).map(({ id, name, args }) => ({
      functionResponse: { id, name, response: { output: run(name, args) } },
    }))
    assert.ok(results.length > 0, 'no call')
    const contents = [
      user,
      { role: 'model', parts: [...first] },
      { role: 'user', parts: results as Part[] },
    ]
    return { first, last: await send({ ...ask(scenario, config), contents }) }
  }

  return {
    async say() {
      const answer = await client.models.generateContent(ask('say'))
      assert.equal(answer.text, greeting)
      const { promptTokenCount = 0, candidatesTokenCount = 0 } = answer.usageMetadata ?? {}
      assert.ok(promptTokenCount > 0 && candidatesTokenCount > 0)
    },
    async 'say, streamed'() {
      const texts = (await stream(ask('say'))).map(({ text }) => text ?? '').filter(Boolean)
      assert.equal(texts.join(''), greeting)
      assert.ok(texts.length > 1, 'the text comes in one piece')
    },
    async think() {
      const parts = await create(ask('think', { thinkingConfig }))
      assert.deepEqual([thoughtsOf(parts), textOf(parts)], [reasoning, greeting])
    },
    async 'think, streamed'() {
      const parts = await stream(ask('think', { thinkingConfig }))
      assert.deepEqual([thoughtsOf(parts), textOf(parts)], [reasoning, greeting])
    },
    async 'think, tool'() {
      const { first, last } = await loop('tool', create, { tools, thinkingConfig })
      assert.deepEqual([first, last].map(thoughtsOf), [reasoning, reasoning])
    },
    async 'think, tool, streamed'() {
      const { first, last } = await loop('tool', stream, { tools, thinkingConfig })
      assert.deepEqual([first, last].map(thoughtsOf), [reasoning, reasoning])
    },
    async tool() {
      assert.equal(textOf((await loop('tool', create)).last), repeatedOne)
    },
    async 'tool, streamed'() {
      assert.equal(textOf((await loop('tool', stream)).last), repeatedOne)
    },
    async 'tool, chat'() {
      const chat = client.chats.create({ model: model('tool'), config: { tools, thinkingConfig } })
      const [call] = listCalls(partsOf(await chat.sendMessage({ message: question })))
      assert.ok(call?.name)
      // The chat pairs it by its name.
      const response = { output: look(place.parse(call.args)) }
      const message = [{ functionResponse: { name: call.name, response } }]
      assert.equal((await chat.sendMessage({ message })).text, repeatedOne)
    },
    async parallel() {
      assert.equal(textOf((await loop('parallel', create)).last), repeatedTwo)
    },
    async 'parallel, streamed'() {
      const { last } = await loop('parallel', stream, { tools, thinkingConfig })
      assert.equal(textOf(last), repeatedTwo)
    },
    async structured() {
      const { text = '' } = await client.models.generateContent(
        ask('structured', {
          responseMimeType: 'application/json',
          responseJsonSchema: z.toJSONSchema(forecast),
        }),
      )
      assert.deepEqual(JSON.parse(text), expectedForecast)
    },
    async refuse() {
      await assert.rejects(create(ask('refuse')), failsWith(400, /refuses every request/))
    },
    async 'refuse, streamed'() {
      await assert.rejects(stream(ask('refuse')), failsWith(400, /refuses every request/))
    },
    async 'rate-limited'() {
      await assert.rejects(create(ask('rate-limited')), failsWith(429, /RESOURCE_EXHAUSTED/))
    },
    async cut() {
      await assert.rejects(create(ask('cut')), failsWith(502, /UNAVAILABLE/))
    },
    async 'cut, streamed'() {
      let text = ''
      const read = async () => {
        for await (const chunk of await client.models.generateContentStream(ask('cut')))
          text += chunk.text ?? ''
      }
      await assert.rejects(read())
      assert.ok(text.length > 0 && greeting.startsWith(text), 'the text before the cut is lost')
    },
    async 'count tokens'() {
      const { totalTokens = 0 } = await client.models.countTokens({
        model: model('say'),
        contents: [user],
      })
      assert.ok(totalTokens > 0)
    },
    async models() {
      const ids: string[] = []
      for await (const { name = '' } of await client.models.list({ config: { pageSize: 5 } }))
        ids.push(name.replace('models/', ''))
      assert.ok(ids.includes(model('say')))
      assert.equal(new Set(ids).size, ids.length)
      const { name } = await client.models.get({ model: model('say') })
      assert.equal(name, `models/${model('say')}`)
    },
    async 'unknown model'() {
      const asked = { ...ask('say'), model: 'no-such-model' }
      await assert.rejects(create(asked), failsWith(404, /not configured/))
    },
    async 'wrong key'() {
      const asking = connect('wrong').models.generateContent(ask('say'))
      await assert.rejects(asking, failsWith(401, /UNAUTHENTICATED/))
    },
    async 'a method that is not served'() {
      const cached = { model: model('say'), config: { contents: [user] } }
      await assert.rejects(client.caches.create(cached), failsWith(404, /NOT_FOUND/))
    },
    ...onEmbedding(target, {
      async embed() {
        const { embeddings } = await client.models.embedContent({
          model: model('embed'),
          contents: ['a', 'b'],
          config: { outputDimensionality: 2 },
        })
        assert.deepEqual(
          embeddings?.map(({ values }) => values),
          [
            [0.5, 1],
            [0.5, 2],
          ],
        )
      },
    }),
    ...onCompatible(target, {
      async 'long name, no parameters'() {
        const wide = [
          { name: longName, parametersJsonSchema: placeSchema },
          { name: 'now', parametersJsonSchema: noParameters },
        ]
        const config = { tools: [{ functionDeclarations: wide }], thinkingConfig }
        const { first, last } = await loop('parallel', stream, config)
        assert.deepEqual(
          listCalls(first).map(({ name }) => name),
          [longName, 'now'],
        )
        assert.equal(textOf(last), repeatedWide)
      },
    }),
    ...withImages(target, {
      async picture() {
        const inlineData = { mimeType: 'image/png', data: pictureData }
        const contents = [{ role: 'user', parts: [{ inlineData }] }]
        assert.equal(textOf(await create({ ...ask('say'), contents })), greeting)
      },
    }),
  }
})

function partsOf({ candidates }: GenerateContentResponse): readonly Part[] {
  return candidates?.[0]?.content?.parts ?? []
}

function listCalls(parts: readonly Part[]) {
  return parts.flatMap(({ functionCall }) => functionCall ?? [])
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text, thought }) => (thought ? '' : (text ?? ''))).join('')
}

function thoughtsOf(parts: readonly Part[]): string {
  return parts.map(({ text, thought }) => (thought ? (text ?? '') : '')).join('')
}

function run(name: string | undefined, args: unknown): string {
  return name === 'now' ? 'noon' : look(place.parse(args))
}

function failsWith(status: number, message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof ApiError)
    assert.equal(error.status, status)
    assert.match(error.message, message)
    return true
  }
}
