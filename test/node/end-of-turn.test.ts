import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { runAtEndOfTurn } from '../../adapters/node/end-of-turn.ts'

test('the steps of a turn run together and in order; what they add runs in the next turn', async () => {
  const ran: string[] = []
  runAtEndOfTurn(() => {
    ran.push('first')
    void Promise.resolve().then(() => ran.push('after the first'))
    runAtEndOfTurn(() => ran.push('next turn'))
  })
  runAtEndOfTurn(() => ran.push('second'))
  expect(ran).toEqual([])
  await nextTurn()
  expect(ran).toEqual(['first', 'second', 'after the first'])
  await nextTurn()
  expect(ran).toEqual(['first', 'second', 'after the first', 'next turn'])
})
