import {
  Agent,
  type AgentInputItem,
  run,
  setDefaultOpenAIClient,
  setTracingDisabled,
  tool,
  user,
} from '@openai/agents'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { greeting } from '../../scripts/conformance/upstream/scenario.ts'
import { type StrictVendors, startStrictVendors, upstreamKinds } from './support/strict-vendors.ts'

/*
 * The OpenAI Agents SDK with its default API, Responses, over sockets.
 */

let vendors: StrictVendors

beforeAll(async () => {
  vendors = await startStrictVendors()
  setTracingDisabled(true)
  setDefaultOpenAIClient(new OpenAI({ baseURL: vendors.baseURL, apiKey: 'any', maxRetries: 0 }))
})

afterAll(async () => {
  await vendors?.close()
})

const question = 'What is the weather in Zürich?'
const repeatedOne = 'The result: sunny in Zürich 1.'
const repeatedTwo = 'The result: sunny in Zürich 1 and sunny in Zürich 2.'

const tools = ['weather', 'time'].map((name) =>
  tool({
    name,
    description: 'Knows it.',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => `sunny in ${city}`,
  }),
)

const settings = { modelSettings: { reasoning: { effort: 'high', summary: 'auto' } } } as const

/** Runs an agent with a stream. */
async function runStream(agent: Agent, input: string | AgentInputItem[]) {
  const stream = await run(agent, input, { stream: true })
  let text = ''
  for await (const piece of stream.toTextStream()) text += piece
  await stream.completed
  return { text, result: stream }
}

describe.each(upstreamKinds)('@openai/agents on %s', (kind) => {
  const guide = (scenario: string, fields: object = {}) =>
    new Agent({ name: 'guide', instructions: 'Answer.', model: `${kind}--${scenario}`, ...fields })

  test('an agent answers', async () => {
    expect((await run(guide('say'), question)).finalOutput).toBe(greeting)
  })

  test('an agent answers in a stream', async () => {
    const { text, result } = await runStream(guide('say'), question)
    expect(text).toBe(greeting)
    expect(result.finalOutput).toBe(greeting)
  })

  test('an agent calls a tool in each of three turns', async () => {
    const agent = guide('tool', { tools, ...settings })
    let history: AgentInputItem[] = []
    for (let turn = 0; turn < 3; turn++) {
      const result = await run(agent, [...history, user(question)])
      expect(result.finalOutput).toBe(repeatedOne)
      history = result.history
    }
  })

  test('an agent calls parallel tools in each of two streamed turns', async () => {
    const agent = guide('parallel', { tools, ...settings })
    const first = await runStream(agent, question)
    expect(first.result.finalOutput).toBe(repeatedTwo)
    const second = await runStream(agent, [...first.result.history, user(question)])
    expect(second.text).toBe(repeatedTwo)
  })

  test('an answer without text ends the run', async () => {
    const typed = guide('structured', { outputType: z.object({ city: z.string() }) })
    expect((await run(typed, question)).finalOutput).toEqual({ city: 'Zürich 1' })
  })

  test('a refused request is an error', async () => {
    await expect(run(guide('refuse'), question)).rejects.toBeInstanceOf(OpenAI.BadRequestError)
  })

  test('a stream that is cut is an error', async () => {
    await expect(runStream(guide('cut'), question)).rejects.toThrow(/LM-3010|failed|cut/i)
  })
})

test('the vendors have accepted every request, with its proofs', () => {
  expect(vendors.listFaults()).toEqual([])
})
