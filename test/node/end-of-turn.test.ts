import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { runAtEndOfTurn } from '../../adapters/node/process/end-of-turn.ts'

test('the steps of a turn run together and in order; what they add runs in the next turn', async () => {
  const ran: string[] = []
  const running = 3
  runAtEndOfTurn(() => {
    ran.push('first')
    void Promise.resolve().then(() => ran.push('after the first'))
    runAtEndOfTurn(() => ran.push('next turn'), running)
  }, running)
  runAtEndOfTurn(() => ran.push('second'), running)
  expect(ran).toEqual([])
  await nextTurn()
  expect(ran).toEqual(['first', 'second', 'after the first'])
  await nextTurn()
  expect(ran).toEqual(['first', 'second', 'after the first', 'next turn'])
})

test('the step of a request that runs alone does not wait', () => {
  const ran: string[] = []
  runAtEndOfTurn(() => ran.push('alone'), 1)
  expect(ran).toEqual(['alone'])
})
