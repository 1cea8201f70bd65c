import { expect, test } from 'vitest'
import { systemClock } from '../../adapters/node/process/system.ts'
import type { Timer } from '../../src/index.ts'
import { called, makeChain } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import { testGateway } from '../support/gateway.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { json, silent } from '../support/scripted-upstream.ts'
import { settlement } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

/** A clock whose timers fire slightly early, as those of Node do. */
class EarlyClock extends ManualClock {
  override schedule(delay: number, fire: () => void): Timer {
    return super.schedule(delay > 1 ? delay - 0.6 : delay, fire)
  }
}

/** Five links whose first-token timeout is 400 units and total timeout 1,000. */
function fiveLinks(unit: number): string {
  const link = {
    settings: `first_token_timeout_ms = ${400 * unit}\ntotal_timeout_ms = ${1000 * unit}`,
  }
  return makeChain([link, link, link, link, link])
}

test.each<[string, () => ManualClock]>([
  ['on time', () => new ManualClock()],
  ['a fraction of a millisecond early', () => new EarlyClock()],
])('no link is called when the total timeout is over: timers %s', async (_, makeClock) => {
  const clock = makeClock()
  const gateway = await watchedGateway(fiveLinks(1), { clock })
  gateway.upstream.always(silent())
  const pending = gateway.chat(request)
  await clock.advance(2000)
  const response = await pending
  expect(response.status).toBe(504)
  expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3013' })
  expect(called(gateway.upstream)).toEqual(['p', 'p2', 'p3'])
  expect(settlement(gateway.log)).toMatchObject({ attempts: 3 })
})

test('no link is called with real timers either, however many requests run at once', async () => {
  const gateway = await testGateway(fiveLinks(0.1), { clock: systemClock })
  gateway.upstream.always(silent())
  const responses = await Promise.all(Array.from({ length: 50 }, () => gateway.chat(request)))
  for (const response of responses) {
    expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3013' })
  }
  expect(called(gateway.upstream)).not.toContain('p4')
  await gateway.gateway.close()
})

test('when a link’s own timeout and the total timeout end together, the total timeout ends the request', async () => {
  for (const clock of [new ManualClock(), new EarlyClock()]) {
    const link = { settings: 'first_token_timeout_ms = 500\ntotal_timeout_ms = 1000' }
    const gateway = await watchedGateway(makeChain([link, link]), { clock })
    gateway.upstream.always(silent())
    const pending = gateway.chat(request)
    await clock.advance(2000)
    expect(await expectErrorShape(await pending)).toMatchObject({ code: 'LM-3013' })
    expect(called(gateway.upstream)).toEqual(['p', 'p2'])
  }
})

test('a retry whose wait would use up the total timeout is not made', async () => {
  for (const clock of [new ManualClock(), new EarlyClock(), new LateClock()]) {
    const gateway = await watchedGateway(
      makeChain([{ settings: 'total_timeout_ms = 100' }], 'retry_base_ms = 199'),
      { clock },
    )
    gateway.upstream.always(json({}, { status: 500 }))
    const pending = gateway.chat(request)
    await clock.advance(1000)
    await pending
    expect(called(gateway.upstream)).toEqual(['p'])
  }
})

/** A clock of a busy process, whose timers fire late. */
class LateClock extends ManualClock {
  override schedule(delay: number, fire: () => void): Timer {
    return super.schedule(delay + 3, fire)
  }
}
