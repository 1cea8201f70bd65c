import { describe, expect, test } from 'vitest'
import { noRowJournal } from '../../src/accounting/journal-writer.ts'
import { UsageLog, type UsageLogOptions } from '../../src/accounting/usage-log.ts'
import { usageLogSink } from '../../src/accounting/usage-row.ts'
import type { RequestId } from '../../src/core/ids.ts'
import { readFailure } from '../../src/core/request-failure.ts'
import type { RequestRecord } from '../../src/core/request-record.ts'
import type { NewUsageRow } from '../../src/store/index.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { dollarModel, groupId, keyId, link, nano, RecordingLog } from './support.ts'

/** A refusal of the key's own budget. */
const refused: RequestRecord = {
  requestId: 'r-1' as RequestId,
  keyId: undefined,
  account: { keyId, groupId: null },
  keyTerm: undefined,
  groupTerm: undefined,
  cost: nano(0),
  reserved: undefined,
  price: undefined,
  capability: 'chat',
  api: 'chat',
  stream: false,
  model: dollarModel,
  served: undefined,
  lastCalled: undefined,
  failed: undefined,
  refusal: undefined,
  status: 402,
  errorCode: 'LM-4001',
  usage: undefined,
  searchUnits: undefined,
  media: undefined,
  latency: 1.4,
  queued: undefined,
  timeToFirstToken: undefined,
  attempts: 0,
  cacheHit: false,
  metadata: {},
}

function logOver(options: Partial<UsageLogOptions> = {}) {
  const store = new MemoryStore()
  const clock = new ManualClock()
  const log = new RecordingLog()
  let dropped = 0
  const usageLog = new UsageLog({
    store,
    rowJournal: noRowJournal,
    clock,
    log,
    capacity: 10,
    batchMax: 4,
    flushAfter: 2_000,
    dropped: () => dropped++,
    ...options,
  })
  const record = usageLogSink(usageLog, { clock, refused() {} })
  /** Records requests `r-<first>` to `r-<last>`. */
  const add = (first: number, last = first) => {
    for (let number = first; number <= last; number++) {
      record({ ...refused, cost: nano(1), requestId: `r-${number}` as RequestId })
    }
  }
  const batches = () =>
    [...store.batches.values()].map((rows) => rows.map(({ requestId }) => requestId).join(' '))
  return { store, clock, log, usageLog, record, add, batches, dropped: () => dropped }
}

describe('a row', () => {
  const rowOf = (settlement: RequestRecord): NewUsageRow[] => {
    const rows: NewUsageRow[] = []
    const clock = new ManualClock(1_764_000_000_999)
    usageLogSink({ add: (row) => rows.push(row) }, { clock, refused() {} })(settlement)
    return rows
  }

  test('a row describes the outcome of a request', () => {
    const served = link({}, { id: 'm2' as never, provider: { name: 'p2' } as never })
    const settlement: RequestRecord = {
      ...refused,
      account: { keyId, groupId },
      cost: nano(17),
      stream: true,
      served,
      status: 200,
      errorCode: undefined,
      usage: {
        promptTokens: 10,
        completionTokens: 5,
        totalTokens: 15,
        cachedTokens: 4,
        cacheWriteTokens: 3,
        cacheWrite1hTokens: 1,
        cacheWrite12hTokens: 1,
        reasoningTokens: 2,
        webSearches: 2,
        billing: {
          modalities: { audioInput: 4, imageInput: 5, audioOutput: 1, imageOutput: 3 },
          toolCalls: { file_search: 1 },
          statedCost: nano(19),
        },
        estimated: true,
      },
      reserved: nano(77),
      price: {
        label: 'above 9',
        tier: 'flex',
        geo: 'us',
        isApproximate: false,
        calculated: nano(18),
        isReported: true,
        prices: { id: '0123456789abcdef', text: '{}' },
        answers: undefined,
      },
      searchUnits: 6,
      media: { count: 1, bytes: 99 },
      latency: 1234.5,
      timeToFirstToken: 45.4,
      failed: [
        { model: 'm', provider: 'p', reason: 'x'.repeat(999), attempts: 2, failure: 'network' },
      ],
      attempts: 3,
      metadata: { team: 'a' },
    }
    expect(rowOf(settlement)).toEqual([
      {
        ts: 1_764_000_000,
        requestId: 'r-1',
        keyId,
        groupId,
        model: 'm',
        modelUsed: 'm2',
        provider: 'p2',
        capability: 'chat',
        api: 'chat',
        stream: true,
        tokensIn: 10,
        tokensOut: 5,
        tokensTotal: 15,
        estimated: true,
        cachedTokens: 4,
        cacheWriteTokens: 3,
        reasoningTokens: 2,
        searchUnits: 6,
        mediaCount: 1,
        mediaBytes: 99,
        cost: 17n,
        latencyMs: 1235,
        ttftMs: 45,
        attempts: 3,
        cacheHit: false,
        status: 200,
        errorCode: null,
        metadata: { team: 'a' },
        tier: 'flex',
        geo: 'us',
        cacheWriteLongTokens: 2,
        audioTokensIn: 4,
        audioTokensOut: 1,
        imageTokensIn: 5,
        imageTokensOut: 3,
        toolCalls: { web_search: 2, file_search: 1 },
        costSource: 'reported',
        costReported: 19n,
        price: 'above 9',
        bill: '{"price":"0123456789abcdef","written12h":1,"reserved":"77","calculated":"18"}',
        queuedMs: null,
        failure: `{"failed":[{"model":"m","provider":"p","reason":"${'x'.repeat(300)}","attempts":2,"failure":"network"}]}`,
        vectors: { id: '0123456789abcdef', text: '{}' },
      },
    ])
  })

  test('a row keeps the reason of a refusal, and at most 16 failed links', () => {
    const failed = Array.from({ length: 30 }, (_, at) => ({
      model: `m${at}`,
      provider: 'p',
      reason: 'has no room',
      attempts: 0,
      failure: 'no-room' as const,
    }))
    const refusal = { reason: 'no', model: undefined, scope: undefined, groupId: undefined }
    const [row] = rowOf({ ...refused, failed, refusal })
    expect(readFailure(row?.failure ?? null)).toEqual({
      reason: 'no',
      failed: failed.slice(0, 16),
    })
  })

  test('the row of a refusal has no tokens and the provider of the requested model', () => {
    expect(rowOf(refused)).toMatchObject([
      {
        modelUsed: null,
        provider: 'p',
        tokensTotal: 0,
        estimated: false,
        ttftMs: null,
        status: 402,
        errorCode: 'LM-4001',
      },
    ])
  })

  test('counts are clamped to what the database can hold', () => {
    const usage = { promptTokens: 1e16, completionTokens: 0, totalTokens: 1e16, estimated: false }
    expect(rowOf({ ...refused, usage, searchUnits: 1e16 })).toMatchObject([
      {
        tokensIn: Number.MAX_SAFE_INTEGER,
        tokensTotal: Number.MAX_SAFE_INTEGER,
        searchUnits: Number.MAX_SAFE_INTEGER,
      },
    ])
  })

  test('a request without an account has no row', () => {
    expect(rowOf({ ...refused, account: undefined })).toEqual([])
  })
})

describe('rows', () => {
  test('rows are written together after the maximum wait', async () => {
    const { clock, add, batches } = logOver()
    add(1)
    await clock.advance(1_500)
    add(2)
    await clock.advance(499)
    expect(batches()).toEqual([])
    await clock.advance(1)
    expect(batches()).toEqual(['r-1 r-2'])
    add(3)
    await clock.advance(2_000)
    expect(batches()).toEqual(['r-1 r-2', 'r-3'])
  })

  test('a full batch is written at once', async () => {
    const { add, batches, clock } = logOver()
    add(1, 4)
    await settled()
    expect(batches()).toEqual(['r-1 r-2 r-3 r-4'])
    expect(clock.pending).toBe(0)
  })

  test('batches are written one after the other', async () => {
    const { store, clock, add, batches } = logOver()
    const release = store.hold()
    add(1, 9)
    await clock.advance(60_000)
    expect(store.calls).toHaveLength(1)
    release()
    await settled()
    expect(batches()).toEqual(['r-1 r-2 r-3 r-4', 'r-5 r-6 r-7 r-8'])
    await clock.advance(2_000)
    expect(batches()[2]).toBe('r-9')
  })

  test('rows over the capacity are dropped and counted, the newest first', async () => {
    const { store, add, batches, usageLog, dropped } = logOver()
    const release = store.hold()
    add(1, 13)
    expect(dropped()).toBe(3)
    release()
    await usageLog.close()
    expect(batches()).toEqual(['r-1 r-2 r-3 r-4', 'r-5 r-6 r-7 r-8', 'r-9 r-10'])
    expect(store.usage.length + dropped()).toBe(13)
    expect(store.calls).toHaveLength(3)
  })

  test('a failed batch is sent again unchanged and written once', async () => {
    const { store, clock, add, batches } = logOver()
    store.trouble = 'lose-answer'
    add(1, 4)
    await settled()
    add(5, 8)
    await clock.advance(4_000)
    expect(store.calls).toHaveLength(3)
    store.trouble = 'none'
    await clock.advance(2_000)
    expect(batches()).toEqual(['r-1 r-2 r-3 r-4', 'r-5 r-6 r-7 r-8'])
    expect(store.usage.map(({ requestId }) => requestId)).toHaveLength(8)
  })

  test('a failing database is retried with a minimum pause', async () => {
    const { store, clock, add } = logOver({ flushAfter: 1 })
    store.trouble = 'refuse'
    add(1)
    await clock.advance(5_000)
    expect(store.calls.length).toBeLessThanOrEqual(11)
  })

  test('an outage logs one line at its begin and one at its end', async () => {
    const { store, clock, log, add } = logOver()
    store.trouble = 'refuse'
    add(1)
    await clock.advance(20_000)
    store.trouble = 'none'
    await clock.advance(20_000)
    expect(log.lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'cannot save usage rows and spend; keeping them in memory and retrying'],
      ['warn', 'saving usage rows and spend works again'],
    ])
  })
})

describe('the end', () => {
  test('closing writes the waiting rows and leaves no timer', async () => {
    const { clock, add, batches, usageLog } = logOver()
    add(1, 6)
    await usageLog.close()
    expect(batches()).toEqual(['r-1 r-2 r-3 r-4', 'r-5 r-6'])
    expect(clock.pending).toBe(0)
  })

  test('closing tries a failed batch once more', async () => {
    const { store, clock, add, batches, usageLog } = logOver()
    store.trouble = 'refuse'
    add(1, 6)
    await settled()
    store.trouble = 'none'
    await usageLog.close()
    expect(batches()).toEqual(['r-1 r-2 r-3 r-4', 'r-5 r-6'])
    expect(clock.pending).toBe(0)
  })

  test('closing returns the rows that are lost, and later rows are dropped', async () => {
    const { store, clock, add, usageLog, dropped } = logOver()
    store.trouble = 'refuse'
    add(1, 6)
    expect(await usageLog.close()).toEqual({ rows: 6, spend: 6n })
    add(7)
    expect(dropped()).toBe(1)
    expect(clock.pending).toBe(0)
  })
})
