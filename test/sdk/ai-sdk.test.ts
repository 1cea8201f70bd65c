import { createOpenAI } from '@ai-sdk/openai'
import { generateText, type ModelMessage, Output, stepCountIs, streamText, tool } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { greeting, reasoning } from '../../scripts/conformance/upstream/scenario.ts'
import { type StrictVendors, startStrictVendors, upstreamKinds } from './support/strict-vendors.ts'

/*
 * The AI SDK with its OpenAI provider, whose default is the Responses API, over sockets.
 */

let vendors: StrictVendors

beforeAll(async () => {
  vendors = await startStrictVendors()
})

afterAll(async () => {
  await vendors?.close()
})

const question = 'What is the weather in Zürich?'
const repeatedOne = 'The result: sunny in Zürich 1.'
const repeatedTwo = 'The result: sunny in Zürich 1 and sunny in Zürich 2.'

const look = {
  description: 'Knows it.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }: { city: string }) => `sunny in ${city}`,
}
const tools = { weather: tool(look), time: tool(look) }

function settings(id: string, openai: object) {
  const provider = createOpenAI({ baseURL: vendors.baseURL, apiKey: 'any' })
  return {
    model: provider(id),
    maxRetries: 0,
    stopWhen: stepCountIs(4),
    providerOptions: { openai: { ...openai } },
  }
}

// The provider does not know that these models reason.
const thinking = { forceReasoning: true, reasoningEffort: 'high', reasoningSummary: 'auto' }

describe.each(upstreamKinds)('the AI SDK on %s', (kind) => {
  describe.each([
    ['by default', {}],
    ['with store: false', { store: false }],
  ])('%s', (_, options) => {
    test('a text is generated, whole and in a stream', async () => {
      const given = settings(`${kind}--say`, options)
      expect((await generateText({ ...given, prompt: question })).text).toBe(greeting)
      const stream = streamText({ ...given, prompt: question })
      const deltas: string[] = []
      for await (const delta of stream.textStream) deltas.push(delta)
      expect(deltas.length).toBeGreaterThan(1)
      expect(deltas.join('')).toBe(greeting)
      expect((await stream.usage).outputTokens).toBeGreaterThan(0)
    })

    test('reasoning is read', async () => {
      const given = settings(`${kind}--think`, { ...options, ...thinking })
      const answer = await generateText({ ...given, prompt: question })
      expect([answer.reasoningText, answer.text]).toEqual([reasoning, greeting])
      const stream = streamText({ ...given, prompt: question })
      expect([await stream.reasoningText, await stream.text]).toEqual([reasoning, greeting])
    })

    test('tools run in several steps', async () => {
      const given = settings(`${kind}--tool`, { ...options, ...thinking })
      expect((await generateText({ ...given, prompt: question, tools })).text).toBe(repeatedOne)
      const parallel = settings(`${kind}--parallel`, { ...options, ...thinking })
      const stream = streamText({ ...parallel, prompt: question, tools })
      expect(await stream.text).toBe(repeatedTwo)
    })

    test('an answer has the form of its schema', async () => {
      const output = Output.object({ schema: z.object({ city: z.string() }) })
      const given = settings(`${kind}--structured`, options)
      const answer = await generateText({ ...given, prompt: question, output })
      expect(answer.output).toEqual({ city: 'Zürich 1' })
    })

    test('a refused request is an error with the message of the vendor', async () => {
      const asking = generateText({ ...settings(`${kind}--refuse`, options), prompt: question })
      await expect(asking).rejects.toMatchObject({
        statusCode: 400,
        message: expect.stringContaining('refuses every request'),
      })
    })

    test('a stream that is cut is an error', async () => {
      let failure: unknown
      const stream = streamText({
        ...settings(`${kind}--cut`, options),
        prompt: question,
        onError: ({ error }) => {
          failure = error
        },
      })
      await stream.consumeStream()
      const reason = await stream.finishReason.then(undefined, () => 'error')
      expect(failure !== undefined || reason === 'error').toBe(true)
    })
  })

  /** Asks in three turns, with the history so far. */
  async function converse(scenario: string, given: { tools?: typeof tools; store?: boolean }) {
    const { store, ...offered } = given
    const model = settings(`${kind}--${scenario}`, {
      ...(store === false && { store }),
      ...thinking,
    })
    let messages: ModelMessage[] = []
    let text = ''
    for (let turn = 0; turn < 3; turn++) {
      messages = [...messages, { role: 'user', content: question }]
      const answer = await generateText({ ...model, ...offered, messages })
      messages = [...messages, ...answer.response.messages]
      text = answer.text
    }
    return text
  }

  test('with store: false a conversation goes on, and its proofs come back', async () => {
    const before = vendors.exchanges.length
    expect(await converse('tool', { tools, store: false })).toBe(repeatedOne)
    const since = vendors.exchanges.slice(before)
    expect(since.filter(({ refusal, lacksProof }) => refusal || lacksProof)).toEqual([])
  })

  test('by default a second turn refers to stored texts, and the error names store', async () => {
    await expect(converse('think', {})).rejects.toThrow(/set store to false/)
  })
})

test('no vendor has refused a request of its own accord', () => {
  expect(vendors.exchanges.filter(({ refusal }) => refusal && !refusal.isScripted)).toEqual([])
})
