import { describe, expect, test } from 'vitest'
import { KeyRegistry } from '../../src/accounting/key-registry.ts'
import { createMemoryLedger } from '../../src/accounting/ledger.ts'
import type { Clock } from '../../src/core/ports.ts'
import {
  admitRequest,
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
  test('requests are admitted up to the limit, then refused with LM-4002 until the minute ends', async () => {
    const { accounts, clock } = registryWith({ rpmLimit: 2 })
    await clock.advance(15_000)
    admitRequest(accounts, 1)
    admitRequest(accounts, 1)
    const error = refusal(() => admitRequest(accounts, 1))
    expect(error).toMatchObject({ code: 'LM-4002', status: 429 })
    expect(error.message).toBe("the key's limit of 2 requests per minute is reached")
    expect(error.detail.retryAfter).toBe(minute - (clock.now() % minute))
    await clock.advance(error.detail.retryAfter ?? 0)
    expect(() => admitRequest(accounts, 1)).not.toThrow()
  })

  test('a refused request does not count', async () => {
    const { accounts, clock } = registryWith({ rpmLimit: 2, tpmLimit: 100 })
    admitRequest(accounts, 10)
    refusal(() => admitRequest(accounts, 100))
    admitRequest(accounts, 10)
    refusal(() => admitRequest(accounts, 10))
    await clock.advance(minute)
    for (let turn = 0; turn < 2; turn++) {
      expect(() => admitRequest(accounts, 10)).not.toThrow()
    }
  })

  test('a limit of 0 refuses every request and asks clients not to retry', () => {
    const { accounts } = registryWith({ rpmLimit: 0 })
    const error = refusal(() => admitRequest(accounts, 1))
    expect(error.message).toBe("the key's request limit is 0: every request is refused")
    expect(error.detail.retryAfter).toBeGreaterThan(0)
    expect(named(error.detail.headers)).toMatchObject({ 'x-should-retry': 'false' })
  })

  test('a withdrawn request is taken off the count, but only in its own minute', async () => {
    const { accounts, clock } = registryWith({ rpmLimit: 1 })
    const first = admitRequest(accounts, 1)
    first.withdraw()
    const second = admitRequest(accounts, 1)
    await clock.advance(minute)
    admitRequest(accounts, 1)
    second.withdraw()
    expect(refusal(() => admitRequest(accounts, 1)).code).toBe('LM-4002')
  })

  test('a settled request stays in the count', () => {
    const { accounts } = registryWith({ rpmLimit: 1 })
    admitRequest(accounts, 1).settle({ cost: nano(0), tokens: 0 })
    expect(refusal(() => admitRequest(accounts, 1)).code).toBe('LM-4002')
  })
})

describe('tokens a minute', () => {
  test('tokens are debited for the prompt and the maximum output, then refused with LM-4003', () => {
    const { accounts } = registryWith({ tpmLimit: 100 })
    admitRequest(accounts, 0, { demand: { promptTokens: 40, output: () => writing(30, 2) } })
    const error = refusal(() => admitRequest(accounts, 31))
    expect(error).toMatchObject({ code: 'LM-4003', status: 429 })
    expect(error.message).toBe(
      "the key's limit of 100 tokens per minute is reached: this request needs 31",
    )
    expect(error.detail.retryAfter).toBeGreaterThan(0)
    admitRequest(accounts, 30)
  })

  test('an output without a bound debits nothing', () => {
    const { accounts } = registryWith({ tpmLimit: 100 })
    admitRequest(accounts, 0, { demand: { promptTokens: 100, output: () => writing(undefined) } })
    expect(refusal(() => admitRequest(accounts, 1)).code).toBe('LM-4003')
  })

  test('a request that alone exceeds the token limit gets its own message', () => {
    const { accounts } = registryWith({ tpmLimit: 100 })
    const error = refusal(() => admitRequest(accounts, 101))
    expect(error.message).toBe('this request needs 101 tokens; the key allows 100 per minute')
    expect(named(error.detail.headers)).toMatchObject({ 'x-should-retry': 'false' })
    expect(refusal(() => admitRequest(accounts, Number.MAX_SAFE_INTEGER)).code).toBe('LM-4003')
  })

  test('settling replaces the token debit by the actual usage', () => {
    const { accounts } = registryWith({ tpmLimit: 100 })
    admitRequest(accounts, 90).settle({ cost: nano(0), tokens: 20 })
    admitRequest(accounts, 80)
    expect(refusal(() => admitRequest(accounts, 1)).code).toBe('LM-4003')
  })

  test('usage above the token limit is settled, and then nothing more is admitted', () => {
    const { accounts } = registryWith({ tpmLimit: 100 })
    admitRequest(accounts, 10).settle({ cost: nano(0), tokens: 500 })
    const error = refusal(() => admitRequest(accounts, 1))
    expect(named(error.detail.headers)).toMatchObject({ 'x-ratelimit-remaining-tokens': '0' })
  })

  test('a request that fails after admission keeps its token debit', () => {
    const { accounts } = registryWith({ tpmLimit: 100 })
    admitRequest(accounts, 60).settle({ cost: nano(0), tokens: undefined })
    expect(refusal(() => admitRequest(accounts, 41)).code).toBe('LM-4003')
  })

  test('settling adjusts the token debit only in its own minute', async () => {
    const { accounts, clock } = registryWith({ tpmLimit: 100 })
    const [first, second] = [admitRequest(accounts, 40), admitRequest(accounts, 40)]
    await clock.advance(minute)
    admitRequest(accounts, 60)
    first.settle({ cost: nano(0), tokens: 1 })
    second.withdraw()
    expect(refusal(() => admitRequest(accounts, 41)).code).toBe('LM-4003')
    admitRequest(accounts, 40)
  })
})

describe('headers', () => {
  test('the headers contain the limits and the remainders after the admission', () => {
    const { accounts } = registryWith({ rpmLimit: 5, tpmLimit: 100 })
    admitRequest(accounts, 10)
    expect(named(admitRequest(accounts, 20).headers)).toEqual({
      'x-ratelimit-limit-requests': '5',
      'x-ratelimit-remaining-requests': '3',
      'x-ratelimit-limit-tokens': '100',
      'x-ratelimit-remaining-tokens': '70',
    })
  })

  test('an unset limit has no headers', () => {
    expect(admitRequest(registryWith({}).accounts, 10).headers).toEqual([])
    expect(
      Object.keys(named(admitRequest(registryWith({ rpmLimit: 5 }).accounts, 10).headers)),
    ).toEqual(['x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests'])
  })

  test('refusals have the headers too', () => {
    const { accounts } = registryWith({ rpmLimit: 1, tpmLimit: 100 })
    expect(named(refusal(() => admitRequest(accounts, 200)).detail.headers)).toMatchObject({
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-remaining-tokens': '100',
    })
    admitRequest(accounts, 30)
    expect(named(refusal(() => admitRequest(accounts, 1)).detail.headers)).toEqual({
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
      ledger: createMemoryLedger(clock),
      observer: new RecordingObserver(),
      reserveOutputTokens: () => 0,
    })
    accounts.load({ keys: [keyRow({ rpmLimit: 1 })], groups: [] })
    return accounts
  }

  test('setting the clock back by a moment does not start a second window', () => {
    const time = { now: 100 * minute }
    const accounts = accountsAt(time)
    admitRequest(accounts, 1)
    time.now -= 500
    const error = refusal(() => admitRequest(accounts, 1))
    expect(error.detail.retryAfter).toBe(minute + 500)
  })

  test('setting the clock back by an hour does not lock the key out for an hour', () => {
    const time = { now: 100 * minute }
    const accounts = accountsAt(time)
    admitRequest(accounts, 1)
    time.now -= 60 * minute
    admitRequest(accounts, 1)
    expect(refusal(() => admitRequest(accounts, 1)).detail.retryAfter).toBe(minute)
  })

  test('setting the clock back and forward again does not undo debits of a former window', () => {
    const time = { now: 100 * minute }
    const accounts = accountsAt(time)
    const early = admitRequest(accounts, 1)
    time.now -= 60 * minute
    admitRequest(accounts, 1)
    time.now += 60 * minute
    admitRequest(accounts, 1)
    early.withdraw()
    expect(refusal(() => admitRequest(accounts, 1)).code).toBe('LM-4002')
  })
})
