import { describe, expect, test } from 'vitest'
import { KeyRegistry } from '../../src/accounting/key-registry.ts'
import type { Clock } from '../../src/core/ports.ts'
import {
  ask,
  keyRow,
  named,
  nano,
  RecordingObserver,
  refusal,
  registryWith,
  writing,
} from './support.ts'

const minute = 60_000

describe('requests a minute', () => {
  test('are admitted up to the limit, then refused with LM-4002 until the minute is over', async () => {
    const { accounts, clock } = registryWith({ rpmLimit: 2 })
    await clock.advance(15_000)
    ask(accounts, 1)
    ask(accounts, 1)
    const error = refusal(() => ask(accounts, 1))
    expect(error).toMatchObject({ code: 'LM-4002', status: 429 })
    expect(error.message).toBe("the key's limit of 2 requests per minute is reached")
    expect(error.detail.retryAfter).toBe(minute - (clock.now() % minute))
    await clock.advance(error.detail.retryAfter ?? 0)
    expect(() => ask(accounts, 1)).not.toThrow()
  })

  test('a refused request does not count', async () => {
    const { accounts, clock } = registryWith({ rpmLimit: 2, tpmLimit: 100 })
    ask(accounts, 10)
    refusal(() => ask(accounts, 100))
    ask(accounts, 10)
    refusal(() => ask(accounts, 10))
    await clock.advance(minute)
    for (let turn = 0; turn < 2; turn++) ask(accounts, 10)
  })

  test('a limit of 0 admits nothing, and says that waiting does not help', () => {
    const { accounts } = registryWith({ rpmLimit: 0 })
    const error = refusal(() => ask(accounts, 1))
    expect(error.message).toBe("the key's request limit is 0: every request is refused")
    expect(error.detail.retryAfter).toBeGreaterThan(0)
    expect(named(error.detail.headers)).toMatchObject({ 'x-should-retry': 'false' })
  })

  test('a withdrawn request gives its place back, in its own minute only', async () => {
    const { accounts, clock } = registryWith({ rpmLimit: 1 })
    const first = ask(accounts, 1)
    first.withdraw()
    const second = ask(accounts, 1)
    await clock.advance(minute)
    ask(accounts, 1)
    second.withdraw()
    expect(refusal(() => ask(accounts, 1)).code).toBe('LM-4002')
  })

  test('a settled request keeps its place', () => {
    const { accounts } = registryWith({ rpmLimit: 1 })
    ask(accounts, 1).settle({ cost: nano(0), tokens: 0 })
    expect(refusal(() => ask(accounts, 1)).code).toBe('LM-4002')
  })
})

describe('tokens a minute', () => {
  test('are debited with the prompt and the bound of its output, and refused with LM-4003', () => {
    const { accounts } = registryWith({ tpmLimit: 100 })
    ask(accounts, 0, { demand: { promptTokens: 40, output: () => writing(30, 2) } })
    const error = refusal(() => ask(accounts, 31))
    expect(error).toMatchObject({ code: 'LM-4003', status: 429 })
    expect(error.message).toBe(
      "the key's limit of 100 tokens per minute is reached: this request needs 31",
    )
    expect(error.detail.retryAfter).toBeGreaterThan(0)
    ask(accounts, 30)
  })

  test('an output without a bound debits nothing', () => {
    const { accounts } = registryWith({ tpmLimit: 100 })
    ask(accounts, 0, { demand: { promptTokens: 100, output: () => writing(undefined) } })
    expect(refusal(() => ask(accounts, 1)).code).toBe('LM-4003')
  })

  test('a request over the whole limit by itself is told so', () => {
    const { accounts } = registryWith({ tpmLimit: 100 })
    const error = refusal(() => ask(accounts, 101))
    expect(error.message).toBe('this request needs 101 tokens; the key allows 100 per minute')
    expect(named(error.detail.headers)).toMatchObject({ 'x-should-retry': 'false' })
    expect(refusal(() => ask(accounts, Number.MAX_SAFE_INTEGER)).code).toBe('LM-4003')
  })

  test('settle to what was really used', () => {
    const { accounts } = registryWith({ tpmLimit: 100 })
    ask(accounts, 90).settle({ cost: nano(0), tokens: 20 })
    ask(accounts, 80)
    expect(refusal(() => ask(accounts, 1)).code).toBe('LM-4003')
  })

  test('may settle above the limit, and then admit nothing more', () => {
    const { accounts } = registryWith({ tpmLimit: 100 })
    ask(accounts, 10).settle({ cost: nano(0), tokens: 500 })
    const error = refusal(() => ask(accounts, 1))
    expect(named(error.detail.headers)).toMatchObject({ 'x-ratelimit-remaining-tokens': '0' })
  })

  test('keep their debit when a request fails after its admission', () => {
    const { accounts } = registryWith({ tpmLimit: 100 })
    ask(accounts, 60).settle({ cost: nano(0), tokens: undefined })
    expect(refusal(() => ask(accounts, 41)).code).toBe('LM-4003')
  })

  test('settle in their own minute only', async () => {
    const { accounts, clock } = registryWith({ tpmLimit: 100 })
    const [first, second] = [ask(accounts, 40), ask(accounts, 40)]
    await clock.advance(minute)
    ask(accounts, 60)
    first.settle({ cost: nano(0), tokens: 1 })
    second.withdraw()
    expect(refusal(() => ask(accounts, 41)).code).toBe('LM-4003')
    ask(accounts, 40)
  })
})

describe('headers', () => {
  test('tell the limits and what is left after the admission', () => {
    const { accounts } = registryWith({ rpmLimit: 5, tpmLimit: 100 })
    ask(accounts, 10)
    expect(named(ask(accounts, 20).headers)).toEqual({
      'x-ratelimit-limit-requests': '5',
      'x-ratelimit-remaining-requests': '3',
      'x-ratelimit-limit-tokens': '100',
      'x-ratelimit-remaining-tokens': '70',
    })
  })

  test('are absent for a limit that is not set', () => {
    expect(ask(registryWith({}).accounts, 10).headers).toEqual([])
    expect(Object.keys(named(ask(registryWith({ rpmLimit: 5 }).accounts, 10).headers))).toEqual([
      'x-ratelimit-limit-requests',
      'x-ratelimit-remaining-requests',
    ])
  })

  test('stand on refusals too', () => {
    const { accounts } = registryWith({ rpmLimit: 1, tpmLimit: 100 })
    expect(named(refusal(() => ask(accounts, 200)).detail.headers)).toMatchObject({
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-remaining-tokens': '100',
    })
    ask(accounts, 30)
    expect(named(refusal(() => ask(accounts, 1)).detail.headers)).toEqual({
      'x-ratelimit-limit-requests': '1',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-limit-tokens': '100',
      'x-ratelimit-remaining-tokens': '70',
    })
  })
})

describe('a wall clock that is set', () => {
  function accountsAt(time: { now: number }) {
    const clock: Clock = {
      now: () => time.now,
      elapsed: () => 0,
      schedule: () => ({ cancel() {} }),
    }
    const accounts = new KeyRegistry({
      clock,
      observer: new RecordingObserver(),
      reserveOutputTokens: () => 0,
    })
    accounts.load({ keys: [keyRow({ rpmLimit: 1 })], groups: [] })
    return accounts
  }

  test('back by a moment gives no second window', () => {
    const time = { now: 100 * minute }
    const accounts = accountsAt(time)
    ask(accounts, 1)
    time.now -= 500
    const error = refusal(() => ask(accounts, 1))
    expect(error.detail.retryAfter).toBe(minute + 500)
  })

  test('back by an hour does not lock the key out for an hour', () => {
    const time = { now: 100 * minute }
    const accounts = accountsAt(time)
    ask(accounts, 1)
    time.now -= 60 * minute
    ask(accounts, 1)
    expect(refusal(() => ask(accounts, 1)).detail.retryAfter).toBe(minute)
  })

  test('back and on again gives nothing back of what a former window had taken', () => {
    const time = { now: 100 * minute }
    const accounts = accountsAt(time)
    const early = ask(accounts, 1)
    time.now -= 60 * minute
    ask(accounts, 1)
    time.now += 60 * minute
    ask(accounts, 1)
    early.withdraw()
    expect(refusal(() => ask(accounts, 1)).code).toBe('LM-4002')
  })
})
