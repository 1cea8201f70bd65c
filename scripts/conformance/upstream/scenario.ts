import type { Answer, Conversation, Part } from './conversation.ts'
import { isRecord, sampleValue } from './json-schema.ts'
import { call, say } from './parts.ts'
import { planPicture } from './picture.ts'
import { markThoughtCalls } from './proofs.ts'
import { Refusal } from './refusal.ts'
import { planTask } from './task.ts'

const scenarios = {
  say: () => [say(greeting)],
  think: (conversation) => [...reason(), ...(callOnce(conversation) ?? [say(greeting)])],
  tool: (conversation) => withReasoning(conversation, callOnce(conversation) ?? [say(greeting)]),
  parallel: (conversation) =>
    withReasoning(conversation, callTwice(conversation) ?? [say(greeting)]),
  structured: (conversation) => [fitFormat(conversation)],
  task: (conversation) => withReasoning(conversation, planTask(conversation)),
  picture: (conversation) => withReasoning(conversation, planPicture(conversation)),
  'rate-limited': () => fail(429, 'too many requests: wait a second', { retryAfter: 1 }),
  refuse: () => fail(400, 'the scenario refuses every request'),
  overloaded: () => fail(503, 'the model is overloaded'),
  cut: () => [say(greeting)],
  slow: () => [say(greeting)],
  embed: () => [],
} satisfies Record<string, (conversation: Conversation) => Part[]>

export type Scenario = keyof typeof scenarios

export const scenarioNames = Object.keys(scenarios)

/** The answer of `say`: frames end within it, and its characters have one to four bytes. */
export const greeting = 'Grüße aus dem Modell: 你好, 🌍! That is all.'

export const reasoning = 'First I think — näher betrachtet — then I answer.'

/** Finds the scenario in a model id. Throws a 404 for a model that does not exist. */
export function readScenario(model: string): Scenario {
  const name = model.split('--').at(-1) ?? ''
  if (!isScenario(name)) throw new Refusal(404, `the model '${model}' does not exist`)
  return name
}

function isScenario(name: string): name is Scenario {
  return name in scenarios
}

/** Answers a conversation. Throws the scripted errors. */
export function answer(scenario: Scenario, conversation: Conversation): Answer {
  const parts = markThoughtCalls(scenarios[scenario](conversation))
  const reasoned = parts.filter(({ kind }) => kind === 'reasoning')
  return {
    parts,
    usage: {
      input: countTokens(JSON.stringify(conversation)),
      output: countTokens(JSON.stringify(parts)),
      reasoning: reasoned.length === 0 ? 0 : countTokens(JSON.stringify(reasoned)),
    },
  }
}

/** Throws the error of a scenario that has one. */
export function failAsScripted(scenario: Scenario): void {
  if (scenario === 'refuse' || scenario === 'rate-limited' || scenario === 'overloaded')
    scenarios[scenario]()
}

/** The vector of the item at an index. */
export function sampleVector(index: number): readonly number[] {
  return [0.5, index + 1]
}

/** A count that is plausible for the gateway. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4)
}

function reason(): Part[] {
  return [{ kind: 'reasoning', text: reasoning }, { kind: 'veiled' }]
}

function withReasoning({ thinks }: Conversation, parts: Part[]): Part[] {
  return thinks ? [...reason(), ...parts] : parts
}

/** Calls the first tool, or repeats its result. Returns undefined without tools. */
function callOnce(conversation: Conversation): Part[] | undefined {
  return repeatResults(conversation) ?? callTools(conversation)?.slice(0, 1)
}

function callTwice(conversation: Conversation): Part[] | undefined {
  return repeatResults(conversation) ?? callTools(conversation)
}

function repeatResults({ turns }: Conversation): Part[] | undefined {
  const last = turns.at(-1)
  if (last?.role !== 'user' || last.results.length === 0) return undefined
  return [say(`The result: ${last.results.map(({ text }) => text).join(' and ')}.`)]
}

/** Calls the first two tools that the choice allows, or the only one twice. */
function callTools({ tools, choice }: Conversation): Part[] | undefined {
  const allowed = typeof choice === 'object' ? tools.filter((t) => t.name === choice.name) : tools
  const [first, second = first] = allowed
  if (choice === 'none' || !first || !second) return undefined
  return [first, second].map(({ name, schema }, index) => {
    const input = sampleValue(schema, index + 1)
    return call(name, isRecord(input) ? input : {})
  })
}

function fitFormat(conversation: Conversation): Part {
  const { format, choice, tools } = conversation
  if (format) return say(JSON.stringify(sampleValue(format)))
  // A good model also takes the only tool that it can.
  const isFree = choice === 'auto' && tools.length !== 1
  const forced = isFree ? undefined : callTools(conversation)?.[0]
  return forced ?? say('The request has no schema.')
}

function fail(status: number, message: string, options: { retryAfter?: number } = {}): never {
  throw new Refusal(status, message, { ...options, isScripted: true })
}
