/** LangChain's package for Gemini, on top of Google's retired SDK: https://github.com/langchain-ai/langchainjs */
import assert from 'node:assert/strict'
import { AIMessage, type AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { concat } from '@langchain/core/utils/stream'
import { ChatGoogleGenerativeAI, GoogleGenerativeAIEmbeddings } from '@langchain/google-genai'
import {
  expectedForecast,
  forecast,
  greeting,
  look,
  onEmbedding,
  place,
  placeSchema,
  question,
  repeatedOne,
  repeatedTwo,
  runChecks,
} from './checks.ts'

const tools = ['weather', 'time'].map((name) => ({
  type: 'function' as const,
  function: { name, description: 'Knows it', parameters: placeSchema },
}))

// Google's retired SDK reads a stream twice, and nothing waits for the second copy of one that breaks off.
process.on('unhandledRejection', () => {})

type Messages = (AIMessage | HumanMessage | ToolMessage)[]
type Send = (model: string, messages: Messages) => Promise<AIMessage>

await runChecks((target) => {
  const { address: baseUrl, key, model } = target
  const connect = (id: string, apiKey = key) =>
    new ChatGoogleGenerativeAI({ model: id, apiKey, baseUrl, maxRetries: 0 })
  const user = new HumanMessage(question)
  const create: Send = (id, messages) => connect(id).bindTools(tools).invoke(messages)
  const stream: Send = async (id, messages) => {
    let whole: AIMessageChunk | undefined
    for await (const chunk of await connect(id).bindTools(tools).stream(messages))
      whole = whole ? concat(whole, chunk) : chunk
    assert.ok(whole)
    return whole
  }

  /** Plays a tool loop to its end, with the messages of the client as they are. */
  async function loop(scenario: string, send: Send): Promise<string> {
    const first = await send(model(scenario), [user])
    const results = (first.tool_calls ?? []).map(
      ({ id = '', name, args }) =>
        new ToolMessage({ tool_call_id: id, name, content: look(place.parse(args)) }),
    )
    assert.ok(results.length > 0, 'no call')
    const last = await send(model(scenario), [user, first, ...results])
    return last.text
  }

  return {
    async say() {
      const answer = await connect(model('say')).invoke(question)
      assert.equal(answer.text, greeting)
      const { input_tokens = 0, output_tokens = 0 } = answer.usage_metadata ?? {}
      assert.ok(input_tokens > 0 && output_tokens > 0)
    },
    async 'say, streamed'() {
      const texts: string[] = []
      for await (const { text } of await connect(model('say')).stream(question)) texts.push(text)
      assert.equal(texts.join(''), greeting)
      assert.ok(texts.filter(Boolean).length > 1, 'the text comes in one piece')
    },
    async tool() {
      assert.equal(await loop('tool', create), repeatedOne)
    },
    async 'tool, streamed'() {
      assert.equal(await loop('tool', stream), repeatedOne)
    },
    async parallel() {
      assert.equal(await loop('parallel', create), repeatedTwo)
    },
    async 'parallel, streamed'() {
      assert.equal(await loop('parallel', stream), repeatedTwo)
    },
    async structured() {
      const method = { method: 'jsonSchema' as const }
      const answer = await connect(model('structured'))
        .withStructuredOutput(forecast, method)
        .invoke(question)
      assert.deepEqual(answer, expectedForecast)
    },
    async refuse() {
      await assert.rejects(connect(model('refuse')).invoke(question), failsWith(400))
    },
    async 'rate-limited'() {
      await assert.rejects(connect(model('rate-limited')).invoke(question), failsWith(429))
    },
    async cut() {
      await assert.rejects(connect(model('cut')).invoke(question), failsWith(502))
    },
    async 'cut, streamed'() {
      let text = ''
      const read = async () => {
        for await (const chunk of await connect(model('cut')).stream(question)) text += chunk.text
      }
      await assert.rejects(read())
      assert.ok(text.length > 0 && greeting.startsWith(text), 'the text before the cut is lost')
    },
    async 'unknown model'() {
      await assert.rejects(connect('no-such-model').invoke(question), failsWith(404))
    },
    async 'wrong key'() {
      await assert.rejects(connect(model('say'), 'wrong').invoke(question), failsWith(401))
    },
    ...onEmbedding(target, {
      async embed() {
        const embeddings = new GoogleGenerativeAIEmbeddings({
          model: model('embed'),
          apiKey: key,
          baseUrl,
        })
        const vectors = await embeddings.embedDocuments(['a', 'b'])
        assert.deepEqual(
          vectors.map((vector) => vector.length > 0),
          [true, true],
        )
      },
    }),
  }
})

function failsWith(status: number) {
  return (error: unknown) => {
    assert.ok(error instanceof Error)
    assert.match(error.message, new RegExp(`\\b${status}\\b`))
    return true
  }
}
