import { expect, test } from 'vitest'
import type { Clock } from '../../src/index.ts'
import { oneProvider, testGateway } from '../support/gateway.ts'
import { whole } from '../support/scripted-upstream.ts'

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
  const countTurns = async (count: number) => {
    let turns = 0
    let isOver = false
    const turn = () => {
      turns++
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    const body = JSON.stringify({ model: 'm', ...make(count) })
    await get('/v1/responses', { method: 'POST', body })
    isOver = true
    return turns
  }
  await countTurns(800)
  const few = await countTurns(800)
  const many = await countTurns(8000)
  expect(many - few).toBeGreaterThan(400)
})
