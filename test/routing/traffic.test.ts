import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { TrafficInProcess } from '../../src/routing/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { makeTarget } from './support.ts'

const cooldown = 30_000
const maxAge = 300_000

/** What happened to one link, oldest first. */
interface Happened {
  readonly isStream: boolean
  readonly at: number
  /** The time of an answer; undefined for a failure. */
  readonly time: number | undefined
}

/** The plain model: the pace from all that has happened, computed anew. */
function computePace(events: readonly Happened[], now: number, pending: number): object {
  let average: number | undefined
  let last: number | undefined
  for (const { at, time } of events) {
    const isRecent = last !== undefined && at - last < maxAge
    const before = isRecent ? average : undefined
    if (time === undefined) average = undefined
    else average = before === undefined ? time : before + 0.3 * (time - before)
    last = at
  }
  const age = last === undefined ? Number.POSITIVE_INFINITY : now - last
  if (average !== undefined && (pending > 0 || age < maxAge)) return { kind: 'measured', average }
  if (average === undefined && age < cooldown) return { kind: 'failed' }
  return pending > 0 ? { kind: 'being-measured' } : { kind: 'new' }
}

const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('begin' as const), link: fc.nat(1), isStream: fc.boolean() }),
    fc.record({ do: fc.constantFrom('served', 'failed', 'end'), run: fc.nat(9) }),
    fc.record({
      do: fc.constant('wait' as const),
      time: fc.oneof(fc.integer({ min: 1, max: 900 }), fc.constantFrom(cooldown, maxAge)),
    }),
  ),
  { maxLength: 60 },
)

test('counts and paces are those of a plain model, whatever happens in which order', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const clock = new ManualClock()
      const traffic = new TrafficInProcess(clock)
      const links = [makeTarget('a'), makeTarget('b')]
      const runs: {
        link: number
        isStream: boolean
        began: number
        run: ReturnType<typeof traffic.begin>
        isAnswered: boolean
      }[] = []
      const happened: Happened[][] = [[], []]
      for (const step of script) {
        if ('time' in step) await clock.advance(step.time)
        else if ('link' in step) {
          const { link, isStream } = step
          const run = traffic.begin(links[link] as (typeof links)[0], isStream)
          runs.push({ link, isStream, began: clock.elapsed(), run, isAnswered: false })
        } else {
          const at = step.run % Math.max(1, runs.length)
          const one = runs[at]
          if (!one) continue
          const { link, isStream, began, run } = one
          const now = clock.elapsed()
          if (step.do === 'served' && !one.isAnswered) {
            run.markServed()
            happened[link]?.push({ isStream, at: now, time: now - began })
            one.isAnswered = true
          } else if (step.do === 'failed') {
            run.markFailed()
            happened[link]?.push({ isStream, at: now, time: undefined })
            run.end()
            runs.splice(at, 1)
          } else if (step.do === 'end') {
            run.end()
            run.end()
            runs.splice(at, 1)
          }
        }
        for (const [at, link] of links.entries()) {
          const own = runs.filter((one) => one.link === at)
          expect(traffic.countInFlight(link)).toBe(own.length)
          for (const isStream of [true, false]) {
            const pending = own.filter((one) => one.isStream === isStream && !one.isAnswered)
            const events = (happened[at] ?? []).filter((each) => each.isStream === isStream)
            const pace = computePace(events, clock.elapsed(), pending.length)
            expect(traffic.getPace(link, { isStream, cooldown })).toEqual(pace)
          }
        }
      }
    }),
    { numRuns: 1_000 },
  )
})

test('a reload keeps the traffic of the models that stay', () => {
  const traffic = new TrafficInProcess(new ManualClock())
  const [a, b] = [makeTarget('a'), makeTarget('b')]
  const runs = [traffic.begin(a, true), traffic.begin(b, true)]
  traffic.retain([a])
  expect([a, b].map((link) => traffic.countInFlight(link))).toEqual([1, 0])
  for (const run of runs) run.end()
  expect([a, b].map((link) => traffic.countInFlight(link))).toEqual([0, 0])
})
