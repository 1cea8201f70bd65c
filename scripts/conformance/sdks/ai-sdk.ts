import assert from 'node:assert/strict'
import {
  APICallError,
  generateText,
  type LanguageModel,
  type ModelMessage,
  Output,
  stepCountIs,
  streamText,
  tool,
} from 'ai'
import { z } from 'zod'
import {
  type Checks,
  expectedForecast,
  forecast,
  greeting,
  longName,
  look,
  onCompatible,
  pictureData,
  place,
  question,
  reasoning,
  repeatedOne,
  repeatedTwo,
  repeatedWide,
  type Target,
  withImages,
} from './checks.ts'

type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]['providerOptions']>

/** A provider of the AI SDK. */
export interface Provider {
  model(scenario: string): LanguageModel
  readonly options: ProviderOptions
  /** Turns reasoning on. */
  readonly reasoningOptions: ProviderOptions
  /** Whether it sends the history whole. Otherwise it refers to earlier answers by their ids. */
  readonly isStateless: boolean
  readonly target: Target
}

const tools = {
  weather: tool({ description: 'Knows it', inputSchema: place, execute: look }),
  time: tool({ description: 'Knows it', inputSchema: place, execute: look }),
}

/** The checks of the AI SDK with one of its providers: https://ai-sdk.dev/docs */
export function toChecks(provider: Provider): Checks {
  const { model, options, reasoningOptions, isStateless, target } = provider
  const settings = (scenario: string, providerOptions = options) => ({
    model: model(scenario),
    prompt: question,
    maxRetries: 0,
    stopWhen: stepCountIs(4),
    providerOptions,
  })

  async function stream(given: Parameters<typeof streamText>[0]) {
    let failure: unknown
    const result = streamText({ ...given, onError: ({ error }) => void (failure = error) })
    const deltas: string[] = []
    for await (const part of result.fullStream)
      if (part.type === 'text-delta') deltas.push(part.text)
    return { deltas, failure, result }
  }

  /** Asks three times, with the history so far. Returns the last answer. */
  async function converse(): Promise<string> {
    const { prompt: _, ...given } = settings('tool')
    let messages: ModelMessage[] = []
    let answer = ''
    for (let turn = 1; turn <= 3; turn++) {
      messages = [...messages, { role: 'user', content: question }]
      const { text, response } = await generateText({ ...given, messages, tools })
      messages = [...messages, ...response.messages]
      answer = text
    }
    return answer
  }

  return {
    async say() {
      const { text, usage } = await generateText(settings('say'))
      assert.equal(text, greeting)
      assert.ok((usage.inputTokens ?? 0) > 0 && (usage.outputTokens ?? 0) > 0)
    },
    async 'say, streamed'() {
      const { deltas, failure, result } = await stream(settings('say'))
      assert.ifError(failure)
      assert.equal(deltas.join(''), greeting)
      assert.ok(deltas.length > 1, 'the text comes in one piece')
      assert.ok(((await result.usage).outputTokens ?? 0) > 0)
    },
    async think() {
      const { reasoningText, text } = await generateText(settings('think', reasoningOptions))
      assert.equal(reasoningText, reasoning)
      assert.equal(text, greeting)
    },
    async 'think, streamed'() {
      const { result, failure } = await stream(settings('think', reasoningOptions))
      assert.ifError(failure)
      assert.equal(await result.reasoningText, reasoning)
      assert.equal(await result.text, greeting)
    },
    async 'think, tool'() {
      const { steps, text } = await generateText({ ...settings('tool', reasoningOptions), tools })
      assert.equal(text, repeatedOne)
      assert.equal(steps[0]?.reasoningText, reasoning)
      if (isStateless) assert.equal(steps[1]?.reasoningText, reasoning)
    },
    async 'think, tool, streamed'() {
      const { result, failure } = await stream({ ...settings('tool', reasoningOptions), tools })
      assert.ifError(failure)
      const [first, second] = await result.steps
      assert.equal(await result.text, repeatedOne)
      assert.equal(first?.reasoningText, reasoning)
      if (isStateless) assert.equal(second?.reasoningText, reasoning)
    },
    async tool() {
      const { text } = await generateText({ ...settings('tool'), tools })
      assert.equal(text, repeatedOne)
    },
    async 'tool, turns'() {
      if (isStateless) assert.equal(await converse(), repeatedOne)
      else await assert.rejects(converse(), /set store to false/)
    },
    async 'tool, streamed'() {
      const { result, failure } = await stream({ ...settings('tool', reasoningOptions), tools })
      assert.ifError(failure)
      assert.equal(await result.text, repeatedOne)
    },
    async parallel() {
      const { text } = await generateText({ ...settings('parallel'), tools })
      assert.equal(text, repeatedTwo)
    },
    async 'parallel, streamed'() {
      const { result, failure } = await stream({ ...settings('parallel', reasoningOptions), tools })
      assert.ifError(failure)
      assert.equal(await result.text, repeatedTwo)
    },
    async structured() {
      const output = Output.object({ schema: forecast })
      const answer = await generateText({ ...settings('structured'), output })
      assert.deepEqual(answer.output, expectedForecast)
    },
    async 'structured, streamed'() {
      const output = Output.object({ schema: forecast })
      const answer = streamText({ ...settings('structured'), output })
      assert.deepEqual(await answer.output, expectedForecast)
    },
    async refuse() {
      await assert.rejects(generateText(settings('refuse')), (error) => {
        assert.ok(APICallError.isInstance(error))
        assert.equal(error.statusCode, 400)
        assert.match(error.message, /refuses every request/)
        return true
      })
    },
    async 'rate-limited'() {
      await assert.rejects(generateText(settings('rate-limited')), { statusCode: 429 })
    },
    async cut() {
      await assert.rejects(generateText(settings('cut')), { statusCode: 502 })
    },
    async 'cut, streamed'() {
      const { deltas, failure, result } = await stream(settings('cut'))
      const text = deltas.join('')
      assert.ok(text.length > 0 && greeting.startsWith(text), 'the text before the cut is lost')
      const reason = await result.finishReason.then(undefined, () => 'error')
      assert.ok(failure !== undefined || reason === 'error', `it finished with ${reason}`)
    },
    ...onCompatible(target, {
      async 'long name, no parameters'() {
        const wide = {
          [longName]: tool({ description: 'Knows it', inputSchema: place, execute: look }),
          now: tool({ description: 'The time', inputSchema: z.object({}), execute: () => 'noon' }),
        }
        const given = { ...settings('parallel', reasoningOptions), tools: wide }
        const { result, failure } = await stream(given)
        assert.ifError(failure)
        assert.equal(await result.text, repeatedWide)
      },
    }),
    ...withImages(target, {
      async picture() {
        const { prompt: _, ...given } = settings('say')
        const image = { type: 'image' as const, image: pictureData, mediaType: 'image/png' }
        const messages: ModelMessage[] = [{ role: 'user', content: [image] }]
        const { text } = await generateText({ ...given, messages })
        assert.equal(text, greeting)
      },
    }),
  }
}
