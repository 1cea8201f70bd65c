/** The OpenAI Agents SDK with its defaults: https://github.com/openai/openai-agents-js */
import assert from 'node:assert/strict'
import {
  Agent,
  type AgentInputItem,
  type RunItem,
  run,
  setDefaultOpenAIClient,
  setTracingDisabled,
  type Tool,
  tool,
  user,
} from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import {
  expectedForecast,
  forecast,
  greeting,
  longName,
  look,
  onCompatible,
  place,
  question,
  repeatedOne,
  repeatedTwo,
  repeatedWide,
  runChecks,
} from './checks.ts'

const tools = ['weather', 'time'].map((name) =>
  tool({ name, description: 'Knows it', parameters: place, execute: look }),
)
const wide = [
  tool({ name: longName, description: 'Knows it', parameters: place, execute: look }),
  tool({ name: 'now', description: 'The time', parameters: z.object({}), execute: () => 'noon' }),
]

await runChecks((target) => {
  const { address, key, model } = target
  setTracingDisabled(true)
  setDefaultOpenAIClient(new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 }))
  const agent = (scenario: string, fields: { tools?: Tool[]; modelSettings?: object } = {}) =>
    new Agent({ name: 'guide', instructions: 'Answer.', model: model(scenario), ...fields })
  const modelSettings = { reasoning: { effort: 'high', summary: 'auto' } }

  async function streamRun(scenario: string, fields = {}) {
    const stream = await run(agent(scenario, fields), question, { stream: true })
    let text = ''
    for await (const piece of stream.toTextStream()) text += piece
    await stream.completed
    const { finalOutput: output, history, newItems } = stream
    return { text, output, history, newItems }
  }

  return {
    async say() {
      assert.equal((await run(agent('say'), question)).finalOutput, greeting)
    },
    async 'say, streamed'() {
      const { text, output } = await streamRun('say')
      assert.equal(text, greeting)
      assert.equal(output, greeting)
    },
    async think() {
      const { finalOutput, newItems } = await run(agent('think', { modelSettings }), question)
      assert.equal(finalOutput, greeting)
      assert.equal(countThoughts(newItems), 1)
    },
    async 'think, tool'() {
      const { finalOutput, newItems } = await run(agent('tool', { tools, modelSettings }), question)
      assert.equal(finalOutput, repeatedOne)
      assert.equal(countThoughts(newItems), 2)
    },
    async 'think, tool, streamed'() {
      const { output, newItems } = await streamRun('tool', { tools, modelSettings })
      assert.equal(output, repeatedOne)
      assert.equal(countThoughts(newItems), 2)
    },
    async tool() {
      const guide = agent('tool', { tools })
      let history: AgentInputItem[] = []
      for (let turn = 1; turn <= 3; turn++) {
        const result = await run(guide, [...history, user(question)])
        assert.equal(result.finalOutput, repeatedOne, `turn ${turn}`)
        history = result.history
      }
    },
    async 'tool, streamed'() {
      const first = await streamRun('tool', { tools, modelSettings })
      assert.equal(first.output, repeatedOne)
      const again = await run(agent('tool', { tools, modelSettings }), [
        ...first.history,
        user(question),
      ])
      assert.equal(again.finalOutput, repeatedOne)
    },
    async parallel() {
      assert.equal((await run(agent('parallel', { tools }), question)).finalOutput, repeatedTwo)
    },
    async 'parallel, streamed'() {
      assert.equal((await streamRun('parallel', { tools, modelSettings })).output, repeatedTwo)
    },
    async structured() {
      const typed = new Agent({ name: 'guide', model: model('structured'), outputType: forecast })
      assert.deepEqual((await run(typed, question)).finalOutput, expectedForecast)
    },
    async refuse() {
      await assert.rejects(run(agent('refuse'), question), OpenAI.BadRequestError)
    },
    async 'rate-limited'() {
      await assert.rejects(run(agent('rate-limited'), question), OpenAI.RateLimitError)
    },
    async cut() {
      await assert.rejects(run(agent('cut'), question), OpenAI.InternalServerError)
    },
    async 'cut, streamed'() {
      await assert.rejects(streamRun('cut'))
    },
    ...onCompatible(target, {
      async 'long name, no parameters'() {
        const { output } = await streamRun('parallel', { tools: wide, modelSettings })
        assert.equal(output, repeatedWide)
      },
    }),
  }
})

/** Counts the reasoning items with a text. Those without one only carry a proof. */
function countThoughts(items: readonly RunItem[]): number {
  return items.filter((item) => item.type === 'reasoning_item' && item.rawItem.content.length > 0)
    .length
}
