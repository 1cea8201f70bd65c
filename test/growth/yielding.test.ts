import { expect, test } from 'vitest'
import type { Clock } from '../../src/index.ts'
import { oneProvider, testGateway } from '../support/gateway.ts'
import { whole } from '../support/scripted-upstream.ts'
import { answerAxes } from './answers.ts'
import { type AnswerDoor, growthGateway, sendQuestion } from './gateway.ts'

/** A clock on which every look at the time takes 10 ms, so that each time slice is over at once. */
function hastyClock(): Clock {
  let time = 0
  return {
    now: () => time,
    elapsed: () => {
      time += 10
      return time
    },
    schedule(delay, fire) {
      if (delay > 0) return { cancel: () => {} }
      const turn = setImmediate(fire)
      return { cancel: () => clearImmediate(turn) }
    },
  }
}

/** Returns how many turns the event loop makes while some work is done. */
async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isOver = true
  return turns
}

const item = { role: 'user', content: 'x' }
const tool = (at: number) => ({ type: 'function', name: `f${at}`, parameters: { type: 'object' } })

test.each([
  ['items', (count: number) => ({ input: Array.from({ length: count }, () => item) })],
  [
    'tools',
    (count: number) => ({ input: 'x', tools: Array.from({ length: count }, (_, at) => tool(at)) }),
  ],
])('a translated Responses request yields the more often, the more %s it has', async (_, make) => {
  const config = oneProvider.replace(
    'kind = "openai"',
    'kind = "openai"\nbase_url = "https://vendor.test/v1"',
  )
  const { get, upstream } = await testGateway(config, { clock: hastyClock() })
  upstream.always(whole('{}', { status: 400 }))
  const count = (size: number) => {
    const body = JSON.stringify({ model: 'm', ...make(size) })
    return countTurns(() => get('/v1/responses', { method: 'POST', body }))
  }
  await count(800)
  const few = await count(800)
  const many = await count(8000)
  expect(many - few).toBeGreaterThan(400)
})

const answers: readonly (readonly [AnswerDoor, string])[] = [
  ['chat/completions', 'openai'],
  ['chat/completions', 'google'],
  ['messages', 'openai'],
  ['messages', 'anthropic'],
  ['messages', 'bedrock'],
  ['responses', 'openai'],
  ['responses', 'cohere'],
]

test.each(answers)('a long answer at %s yields while it is read, from %s', async (door, model) => {
  const gateway = await growthGateway({ clock: hastyClock() })
  const axis = answerAxes.find(
    (other) => other.model === model && other.name === 'calls' && !other.isStream,
  )
  if (!axis) throw new Error('no such axis')
  const count = async (size: number) => {
    const answer = axis.make(size)
    let status = 0
    const turns = await countTurns(async () => {
      ;({ status } = await sendQuestion(gateway, { door, axis, answer }))
    })
    expect(status).toBe(200)
    return turns
  }
  const few = await count(100)
  const many = await count(20_000)
  expect(many - few).toBeGreaterThan(8)
})

test('a long answer on the Responses API yields between the calls that it writes', async () => {
  const gateway = await growthGateway({ clock: hastyClock() })
  const axis = answerAxes.find(({ model, name }) => model === 'openai' && name === 'calls')
  if (!axis) throw new Error('no such axis')
  const ask = (door: AnswerDoor) =>
    countTurns(() => sendQuestion(gateway, { door, axis, answer: axis.make(20_000) }))
  await ask('responses')
  const verbatim = await ask('chat/completions')
  expect((await ask('responses')) - verbatim).toBeGreaterThan(200)
})
