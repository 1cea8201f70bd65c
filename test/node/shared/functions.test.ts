import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFunctions } from '../../../adapters/node/shared/library.ts'
import { openRedisState } from '../../../adapters/node/shared/redis-state.ts'
import type { SharedState } from '../../../src/index.ts'
import { addCircuits } from '../../support/circuits-model.ts'
import { settled } from '../../support/manual-clock.ts'
import { addParkings } from '../../support/parkings-model.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { SharedServer } from '../../support/shared-server.ts'

const day = '86400000'

type Call = readonly [name: string, ...args: string[]]

const name = fc.constantFrom('["p","m"]', '["p","a|b c"]')
const id = fc.constantFrom('1-a', '2-b')
/** Times that are over at once or never, because the clock of the server cannot be set. */
const time = fc.constantFrom('0', day)

const call: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(fc.constant('circuit_fault'), name, fc.constantFrom('1', '2'), time),
  fc.tuple(fc.constant('circuit_recover'), name),
  fc.tuple(fc.constant('circuit_probe'), name, id, time),
  fc.tuple(fc.constant('circuit_renew'), name, id, time),
  fc.tuple(
    fc.constant('circuit_end'),
    name,
    id,
    fc.constantFrom('closed', 'abandoned'),
    fc.constant('1'),
  ),
  fc.tuple(fc.constant('circuit_end'), name, id, fc.constant('open'), time),
  fc.tuple(fc.constant('circuit_sync'), name, time),
  fc.tuple(fc.constant('park'), name, fc.constantFrom('0', '1', '7'), time),
  fc.tuple(fc.constant('park_free'), name),
  fc.tuple(fc.constant('park_list')),
  fc.tuple(fc.constant('park_reload')),
)

test('every file of the functions is loaded', () => {
  const folder = 'src/shared/functions'
  const text = readFunctions()
  for (const file of readdirSync(folder)) {
    expect(text).toContain(readFileSync(join(folder, file), 'utf8'))
  }
})

describe.skipIf(!hasRedis)('the functions for circuits and parked credentials', () => {
  let redis: RedisServer
  let state: SharedState

  beforeAll(async () => {
    redis = await startRedis()
    const log = { enabled: () => false, write() {} }
    state = await openRedisState({ url: redis.url, prefix: 'test', log })
  })

  afterAll(async () => {
    await state?.close()
    await redis?.stop()
  })

  test('a server replies and publishes what the model of the tests does', async () => {
    const published: string[] = []
    for (const channel of ['circuits', 'parked']) {
      state.subscribe(channel, (message) => published.push(withoutTimes(message)))
      await expect.poll(() => redis.command('pubsub', 'numsub', `{test}:${channel}`)).toMatch(/1$/)
    }
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 25 }), async (calls) => {
        redis.command('flushall')
        published.length = 0
        const model = new SharedServer()
        addCircuits(model, () => 0)
        addParkings(model, () => 0)
        const modelled = await model.open()
        const messages: string[] = []
        for (const channel of ['circuits', 'parked']) {
          modelled.subscribe(channel, (message) => messages.push(withoutTimes(message)))
        }
        for (const [called, ...args] of calls) {
          const reply = await state.call(called, args)
          expect(reply.slice(1).map(withoutTimes).sort()).toEqual(
            (await modelled.call(called, args)).slice(1).map(withoutTimes).sort(),
          )
        }
        await settled()
        await expect.poll(() => published, { interval: 2 }).toEqual(messages)
      }),
      { numRuns: 60 },
    )
  })
})

/** Drops the version, times, and how much of a time is left. */
function withoutTimes(text: string): string {
  const parked = text
    .replace(/^(\d+) (\d+) (?=\[)/, (_, refusals, wait) => `${refusals} ${shorten(wait)} `)
    .replace(/^reload \d+$/, 'reload')
  return parked.replace(
    /^\d+ (\d+) (-|\d+) (\d+) /,
    (_, faults, openFor, probingFor) => `${faults} ${shorten(openFor)} ${shorten(probingFor)} `,
  )
}

function shorten(left: string): string {
  return Number(left) > 0 ? 'a day' : left
}
