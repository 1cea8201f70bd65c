import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Model } from '../../src/core/provider.ts'
import { orderLinks } from '../../src/routing/index.ts'
import { completion } from '../support/answers.ts'
import { byProvider } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import { broken, json } from '../support/scripted-upstream.ts'
import { randomFrom } from '../support/seeded-random.ts'
import { watchedGateway } from '../support/watched-gateway.ts'
import { chatBody, makeBalance, makeConditions, makeRoute, takeCalls } from './support.ts'

const answer = json(completion())

const weightLists = fc
  .array(
    fc.oneof(
      fc.constant(0),
      fc.integer({ min: 1, max: 9 }),
      fc.double({ min: 0.1, max: 5, noNaN: true }),
    ),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .filter((weights) => weights.some((weight) => weight > 0))

describe('the order', () => {
  test('the first target is drawn by weight, and so is the second among the others', () => {
    const random = randomFrom(7)
    fc.assert(
      fc.property(weightLists, (weights) => {
        const balance = makeBalance(weights)
        const draws = 4_000
        const firsts = weights.map(() => 0)
        const seconds = weights.map(() => weights.map(() => 0))
        for (let draw = 0; draw < draws; draw++) {
          const [first, second] = orderLinks(balance, makeConditions({ random }))
          const [i, j] = [Number(first?.id), Number(second?.id)]
          firsts[i] = (firsts[i] ?? 0) + 1
          const row = seconds[i]
          if (row && weights.length > 1) row[j] = (row[j] ?? 0) + 1
        }
        const total = weights.reduce((sum, weight) => sum + weight, 0)
        for (const [i, weight] of weights.entries()) {
          expectShare(firsts[i] ?? 0, draws, weight / total)
          const rest = weights.reduce((sum, other, j) => (j === i ? sum : sum + other), 0)
          if (rest === 0) continue
          for (const [j, other] of weights.entries()) {
            if (i !== j) expectShare(seconds[i]?.[j] ?? 0, firsts[i] ?? 0, other / rest)
          }
        }
      }),
      { numRuns: 30, seed: 7 },
    )
  })

  test('every target appears once; weight 0 and open circuits follow, fallbacks come last', () => {
    const random = randomFrom(7)
    const cases = weightLists.chain((weights) =>
      fc.tuple(
        fc.constant(weights),
        fc.array(fc.boolean(), { minLength: weights.length, maxLength: weights.length }),
      ),
    )
    fc.assert(
      fc.property(cases, ([weights, opens]) => {
        const isOpen = ({ id }: Model) => opens[Number(id)] === true
        const links = orderLinks(makeBalance(weights), makeConditions({ random, isOpen }))
        const ids = links.map(({ id }) => String(id))
        expect(ids.at(-1)).toBe('f')
        const targets = ids.slice(0, -1)
        expect(targets.toSorted()).toEqual(weights.map((_, at) => String(at)))
        const places = targets.map(
          (id) => (opens[Number(id)] ? 2 : 0) + (weights[Number(id)] === 0 ? 1 : 0),
        )
        expect(places).toEqual(places.toSorted())
      }),
      { numRuns: 3_000 },
    )
  })
})

/** Expects a count within five standard deviations of a binomial distribution. */
function expectShare(count: number, of: number, share: number): void {
  const deviation = Math.sqrt(of * share * Math.max(0, 1 - share))
  expect(Math.abs(count - of * share)).toBeLessThanOrEqual(5 * deviation + 1)
}

describe('a weighted route', () => {
  test('requests are spread by the random port', async () => {
    // One draw for each target of each request. At equal draws the heaviest target comes first.
    const numbers = [0.1, 0.9, 0.9, 0.5, 0.5, 0.5, 0.9, 0.9, 0.1, 0.4, 0.7, 0.9]
    let at = 0
    const { chat, upstream } = await watchedGateway(makeRoute({ weights: [1, 2, 1] }), {
      random: () => numbers[at++] ?? 0,
    })
    upstream.always(answer)
    while (at < numbers.length) expect((await chat(chatBody())).status).toBe(200)
    expect(takeCalls(upstream)).toBe('abca')
  })

  test('the other targets are the chain behind the first, then the fallbacks', async () => {
    const gateway = await watchedGateway(makeRoute({ weights: [1, 0, 2], hasFallback: true }))
    byProvider(gateway.upstream, { a: broken(), b: broken(), c: broken(), z: answer })
    const response = await gateway.chat(chatBody())
    expect(response.headers.get('x-gateway-model-used')).toBe('z')
    expect(takeCalls(gateway.upstream)).toBe('acbz')
  })

  test('a target with an open circuit goes behind the other targets, and is probed after the cooldown', async () => {
    const gateway = await watchedGateway(
      makeRoute({
        weights: [1, 0],
        hasFallback: true,
        resilience:
          'retry_max_attempts = 1\ncircuit_failure_threshold = 1\ncircuit_cooldown_ms = 1000',
      }),
    )
    const { upstream, clock, chat } = gateway
    byProvider(upstream, { a: broken(), b: answer })
    await chat(chatBody())
    await chat(chatBody())
    expect(takeCalls(upstream)).toBe('abb')
    byProvider(upstream, { a: answer, b: answer })
    await clock.advance(1_000)
    await chat(chatBody())
    await chat(chatBody())
    expect(takeCalls(upstream)).toBe('aa')
  })

  test('when no target serves, the error lists all links', async () => {
    const { chat, upstream } = await watchedGateway(makeRoute({ hasFallback: true }))
    upstream.always(json({}, { status: 500 }))
    const response = await chat(chatBody())
    expect(response.status).toBe(503)
    expect(await expectErrorShape(response)).toMatchObject({
      code: 'LM-3004',
      message: expect.stringMatching(
        /a \(1 attempt\).*b \(1 attempt\).*c \(1 attempt\).*z \(1 attempt\)/,
      ),
    })
  })
})
