import { describe, expect, test } from 'vitest'
import type { Tokenizer } from '../../src/index.ts'
import { plainBill } from '../../src/store/index.ts'
import { completion, done, hello, role, stop, usageChunk } from '../support/answers.ts'
import { series } from '../support/exposition.ts'
import {
  type Answer,
  keyedGateway,
  pricedProvider,
  prompt,
  readSpend,
  used,
} from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { json, LiveUpstream, stream } from '../support/scripted-upstream.ts'
import { StreamReader, streamed } from '../support/stream-client.ts'

const day = 86_400_000

describe('a row of the usage log', () => {
  test('a served request fills every column', async () => {
    const gateway = await keyedGateway()
    const { key, group, chat, upstream, clock } = gateway
    const pool = await group()
    const held = await key({ group_id: pool })
    const details = {
      prompt_tokens_details: { cached_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 5 },
    }
    upstream.next(async (request) => {
      await clock.advance(120)
      return used(20, 7, details)(request)
    })
    const headers = {
      ...held.headers,
      'x-request-id': 'fixed',
      'x-gateway-metadata': '{"team":"search","tier":2,"trial":false}',
    }
    await (await chat(prompt(), { headers })).text()
    expect(await gateway.rows()).toEqual([
      {
        id: 1,
        ts: 1_764_000_000,
        requestId: 'fixed',
        keyId: held.id,
        groupId: pool,
        model: 'm',
        modelUsed: 'm',
        provider: 'p',
        capability: 'chat',
        api: 'chat',
        stream: false,
        tokensIn: 20,
        tokensOut: 7,
        tokensTotal: 27,
        estimated: false,
        cachedTokens: 3,
        cacheWriteTokens: 0,
        reasoningTokens: 5,
        searchUnits: 0,
        mediaCount: 0,
        mediaBytes: 0,
        cost: 34_000n,
        latencyMs: 120,
        ttftMs: null,
        attempts: 1,
        cacheHit: false,
        status: 200,
        errorCode: null,
        metadata: { team: 'search', tier: 2, trial: false },
        ...plainBill,
        queuedMs: null,
        failure: null,
        bill: expect.stringMatching(/^\{"price":"[\da-f]{16}"\}$/),
      },
    ])
    const exported = await gateway.admin('GET', '/admin/usage/export')
    expect(exported.body).toMatchObject({
      rows: [{ id: 1, key_id: held.id, group_id: pool, cost: 0.000034, tokens_total: 27 }],
    })
  })

  test('a stream has its time to first token', async () => {
    const gateway = await keyedGateway()
    const held = await gateway.key()
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    const answer = gateway.chat(streamed(), { headers: held.headers })
    await gateway.clock.advance(40)
    live.push(role + hello)
    const response = await answer
    await gateway.clock.advance(60)
    live.push(stop + usageChunk + done)
    await response.text()
    expect(await gateway.rows()).toMatchObject([
      { stream: true, ttftMs: 40, latencyMs: 100, tokensIn: 9, tokensOut: 2, estimated: false },
    ])
  })

  test('a refused request has a row without tokens, at the provider of the model', async () => {
    const gateway = await keyedGateway()
    const pool = await gateway.group()
    const limits: readonly (readonly [object, number, string])[] = [
      [{ rpm_limit: 0 }, 429, 'LM-4002'],
      [{ tpm_limit: 1 }, 429, 'LM-4003'],
      [{ budget_max: 0 }, 402, 'LM-4001'],
    ]
    for (const [limit, status] of limits) {
      const held = await gateway.key({ ...limit, group_id: pool })
      expect((await gateway.ask(held, prompt())).status).toBe(status)
    }
    expect(await gateway.rows()).toMatchObject(
      limits.map(([, status, errorCode]) => ({
        status,
        errorCode,
        groupId: pool,
        model: 'm',
        modelUsed: null,
        provider: 'p',
        tokensTotal: 0,
        cost: 0n,
        attempts: 0,
      })),
    )
  })

  test('a failed request has the provider called last and its attempts', async () => {
    const gateway = await keyedGateway(`[resilience]\nretry_base_ms = 0\n${pricedProvider}`)
    const held = await gateway.key()
    gateway.upstream.always(json({}, { status: 500 }))
    const answer = gateway.ask(held, prompt())
    await gateway.clock.advance(1)
    expect((await answer).status).toBe(502)
    expect(await gateway.rows()).toMatchObject([
      { status: 502, errorCode: 'LM-3003', attempts: 3, modelUsed: null, provider: 'p' },
    ])
  })

  test('every capability writes rows, and none holds any content', async () => {
    const gateway = await keyedGateway()
    const held = await gateway.key()
    gateway.upstream.next(json(completion('the-secret-answer')))
    await gateway.ask(held, {
      model: 'm',
      messages: [{ role: 'user', content: 'the-secret-question' }],
    })
    const rows = await gateway.rows()
    expect(rows).toHaveLength(1)
    expect(Object.values(rows[0] ?? {}).join()).not.toContain('the-secret')
  })
})

describe('a client that leaves', () => {
  test('a client that leaves is a 499 in row, log and metrics, and not a server error', async () => {
    const gateway = await keyedGateway()
    const held = await gateway.key({ budget_max: 1 })
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(role + hello)
    const response = await gateway.chat(streamed(), { headers: held.headers })
    const reader = new StreamReader(response)
    await reader.next()
    await reader.leave()
    expect(await gateway.rows()).toMatchObject([{ status: 499, errorCode: 'LM-6001' }])
    expect(gateway.log.at(-1)).toMatchObject({ level: 'info', fields: { status: 499 } })
    const text = await (await gateway.get('/metrics')).text()
    const counted = series(text, 'gateway_request_duration_seconds_count')
    expect(counted.map(({ labels }) => labels['status'])).toEqual(['499'])
    const { body } = await gateway.admin('GET', '/admin/usage?group_by=total')
    expect(body['groups']).toMatchObject([
      { requests: 1, requests_ok: 0, requests_client_error: 1, requests_server_error: 0 },
    ])
  })

  test('a client that leaves before its answer has a row and is not charged', async () => {
    const gateway = await keyedGateway()
    const held = await gateway.key({ budget_max: 1 })
    const leaving = new AbortController()
    gateway.upstream.next(({ signal }) => {
      leaving.abort()
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')))
      })
    })
    const { headers } = held
    const { status } = await gateway.chat(prompt(), { headers, signal: leaving.signal })
    expect(status).toBe(499)
    expect(await gateway.rows()).toMatchObject([{ status: 499, cost: 0n, modelUsed: null }])
  })
})

describe('exact counts', () => {
  const counting = `tokenizer.mode = "accurate"\n${pricedProvider.replace('upstream-m', 'gpt-4o')}`

  test('an exact count changes the charge, so that budget and row agree', async () => {
    let count = () => {}
    const counted = new Promise<void>((resolve) => {
      count = resolve
    })
    const tokenizer: Tokenizer = {
      async count(_, texts) {
        await counted
        return texts.map(() => 10)
      },
    }
    const gateway = await keyedGateway(counting, { tokenizer })
    const pool = await gateway.group({ budget_max: 1 })
    const held = await gateway.key({ budget_max: 1, group_id: pool })
    gateway.upstream.next(json(completion('Hello', {})))
    await gateway.ask(held, prompt())
    expect(await readSpend(gateway, held.id)).toBe(0.000012)
    expect(await gateway.rows()).toEqual([])
    count()
    await settled()
    // Six tokens for the message and the reply; ten for each text: role, content, answer.
    expect(await gateway.rows()).toMatchObject([
      { tokensIn: 26, tokensOut: 10, estimated: true, cost: 46_000n },
    ])
    expect(await readSpend(gateway, held.id)).toBe(0.000046)
    expect(await readSpend(gateway, pool, 'groups')).toBe(0.000046)
  })

  test('a lower exact count refunds the difference', async () => {
    const gateway = await keyedGateway(counting, {
      tokenizer: { count: async (_, texts) => texts.map(() => 0) },
    })
    const held = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(json(completion('Hello, hello, hello', {})))
    await gateway.ask(held, prompt())
    await settled()
    expect(await gateway.rows()).toMatchObject([{ cost: 6_000n }])
    expect(await readSpend(gateway, held.id)).toBe(0.000006)
  })
})

describe('spend', () => {
  test('spend is saved every flush_interval_ms', async () => {
    const gateway = await keyedGateway(pricedProvider, { auth: 'flush_interval_ms = 500' })
    const held = await gateway.key({ budget_max: 1 })
    gateway.upstream.always(used(8, 4))
    const saved = () => gateway.store.keys.values().next().value?.budgetSpent
    await gateway.ask(held, prompt())
    await gateway.clock.advance(499)
    expect(saved()).toBe(0n)
    await gateway.clock.advance(1)
    expect(saved()).toBe(16_000n)
  })

  test('spend and waiting rows are saved at the end', async () => {
    const gateway = await keyedGateway()
    const held = await gateway.key()
    gateway.upstream.always(used(8, 4))
    await gateway.ask(held, prompt())
    await gateway.gateway.close()
    expect([...gateway.store.keys.values()]).toMatchObject([{ budgetSpent: 16_000n }])
    expect(gateway.store.usage).toHaveLength(1)
    expect(gateway.store.closed).toBe(true)
  })

  test.each(['refuse', 'lose-answer'] as const)(
    'spend waits while the database is unavailable (%s): requests continue, and it is written once afterwards',
    async (trouble) => {
      const gateway = await keyedGateway()
      const { store, clock } = gateway
      const held = await gateway.key({ budget_max: 0.0001, rpm_limit: 100 })
      gateway.upstream.always(used(8, 4))
      store.trouble = trouble
      const answers: Answer[] = []
      for (let request = 0; request < 8; request++) {
        answers.push(await gateway.ask(held, prompt(8, { max_tokens: 4 })))
        await clock.advance(5_000)
      }
      // The budget is still enforced: six times 16,000 nano-dollars.
      expect(answers.map(({ status }) => status)).toEqual([...Array(6).fill(200), 402, 402])
      const warnings = gateway.log.filter(({ level }) => level === 'warn')
      expect(warnings.map(({ message }) => message)).toEqual([
        'cannot save usage rows and spend; keeping them in memory and retrying',
      ])
      store.trouble = 'none'
      await clock.advance(20_000)
      expect([...store.keys.values()]).toMatchObject([{ budgetSpent: 96_000n }])
      expect(store.usage).toHaveLength(8)
    },
  )

  test('the next process starts with the saved spend', async () => {
    const first = await keyedGateway()
    const held = await first.key({ budget_max: 0.00006 })
    first.upstream.always(used(8, 4))
    for (let request = 0; request < 3; request++) {
      await first.ask(held, prompt(8, { max_tokens: 4 }))
    }
    await first.gateway.close()
    first.store.closed = false
    const second = await keyedGateway(pricedProvider, { store: first.store })
    const refused = await second.ask(held, prompt(8, { max_tokens: 4 }))
    expect(refused.body['error']).toMatchObject({ code: 'LM-4001', budget_spent: 0.000048 })
    await second.gateway.close()
  })
})

describe('the usage log', () => {
  test('rows beyond the queue’s capacity are dropped and counted', async () => {
    const gateway = await keyedGateway(pricedProvider, { auth: 'usage_channel_capacity = 3' })
    const held = await gateway.key({ budget_max: 1 })
    gateway.upstream.always(used(8, 4))
    gateway.store.trouble = 'refuse'
    for (let request = 0; request < 5; request++) {
      expect((await gateway.ask(held, prompt())).status).toBe(200)
    }
    const text = await (await gateway.get('/metrics')).text()
    expect(series(text, 'gateway_usage_log_dropped_total')).toEqual([{ labels: {}, value: 2 }])
    gateway.store.trouble = 'none'
    expect(await gateway.rows()).toHaveLength(3)
    // Requests with dropped rows are charged too.
    expect(await readSpend(gateway, held.id)).toBe(0.00008)
  })

  test('a full batch is written at once', async () => {
    const gateway = await keyedGateway(pricedProvider, { auth: 'usage_batch_max = 2' })
    const held = await gateway.key()
    gateway.upstream.always(used(8))
    await gateway.ask(held, prompt())
    await settled()
    expect(gateway.store.usage).toHaveLength(0)
    await gateway.ask(held, prompt())
    await settled()
    expect(gateway.store.usage).toHaveLength(2)
  })

  test.each([
    ['retention_days = 2', 1],
    ['retention_days = 0', 2],
  ])('rows are kept as long as %s says, and spend forever', async (auth, kept) => {
    const gateway = await keyedGateway(pricedProvider, { auth })
    const held = await gateway.key({ budget_max: 1 })
    gateway.upstream.always(used(8, 4))
    await gateway.ask(held, prompt())
    await gateway.clock.advance(day)
    await gateway.ask(held, prompt())
    expect(await gateway.rows()).toHaveLength(2)
    await gateway.clock.advance(day + 3_600_000)
    expect(gateway.store.usage).toHaveLength(kept)
    expect(await readSpend(gateway, held.id)).toBe(0.000032)
  })

  test('rows are summed by key, group, status and the other groupings', async () => {
    const gateway = await keyedGateway()
    const pool = await gateway.group()
    const [rich, poor] = [
      await gateway.key({ group_id: pool }),
      await gateway.key({ rpm_limit: 0 }),
    ]
    gateway.upstream.always(used(8, 4))
    for (const held of [rich, rich, poor]) await gateway.ask(held, prompt())
    await gateway.rows()
    const sums = async (groupBy: string) => {
      const { body } = await gateway.admin('GET', `/admin/usage?group_by=${groupBy}`)
      const groups = body['groups'] as { group: string; requests: number; cost: number }[]
      return groups.map(({ group, requests, cost }) => [group, requests, cost])
    }
    expect(await sums('key_id')).toEqual([
      [rich.id, 2, 0.000032],
      [poor.id, 1, 0],
    ])
    expect(await sums('group_id')).toEqual([
      [pool, 2, 0.000032],
      ['', 1, 0],
    ])
    expect(await sums('status')).toEqual([
      ['200', 2, 0.000032],
      ['429', 1, 0],
    ])
    expect(await sums('total')).toEqual([['total', 3, 0.000032]])
  })
})

test('a stream and a whole answer with the same usage cost the same', async () => {
  const gateway = await keyedGateway()
  const held = await gateway.key({ budget_max: 1 })
  gateway.upstream.next(stream([role, hello, stop, usageChunk, done]), used(9, 2))
  await (await gateway.chat(streamed(), { headers: held.headers })).text()
  await gateway.ask(held, prompt())
  const rows = await gateway.rows()
  expect(rows.map(({ cost }) => cost)).toEqual([13_000n, 13_000n])
})
