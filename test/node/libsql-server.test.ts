import { createClient } from '@libsql/client/http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type LibsqlServer, libsqlServer } from './support/libsql-server.ts'

/*
 * What the stand-in for a libSQL server promises, of the protocol that its clients speak (Hrana over HTTP,
 * version 2): https://github.com/tursodatabase/libsql/blob/main/docs/HTTP_V2_SPEC.md
 */

const begin = { stmt: { sql: 'begin immediate' } }
const after = (step: number) => ({ condition: { type: 'ok', step } })
const insert = (id: number) => ({
  sql: 'insert into t values (?, ?)',
  args: [
    { type: 'integer', value: String(id) },
    { type: 'text', value: 'x' },
  ],
})

interface Answer {
  readonly baton: unknown
  readonly results?: readonly Outcome[]
}

interface Outcome {
  readonly type: 'ok' | 'error'
  readonly response?: { readonly result?: Result }
}

/** Of a statement or of a batch. */
interface Result {
  readonly rows?: readonly { readonly value: string }[][]
  readonly step_results?: readonly unknown[]
  readonly step_errors?: readonly unknown[]
}

async function prepared(token?: string): Promise<LibsqlServer> {
  const server = await libsqlServer(token)
  server.execute('create table t (id integer primary key, name text)')
  return server
}

async function send({ url }: LibsqlServer, requests: readonly object[], headers = {}) {
  const text = JSON.stringify({ baton: null, requests })
  const response = await fetch(`${url}/v2/pipeline`, { method: 'POST', body: text, headers })
  const body = (await response.json()) as Answer
  return { status: response.status, ...body }
}

async function ids(server: LibsqlServer): Promise<unknown> {
  const { results } = await send(server, [execute('select id from t order by id')])
  return resultOf(results)
    ?.rows?.flat()
    .map(({ value }) => value)
}

function resultOf(results: Answer['results'], at = 0): Result | undefined {
  return results?.[at]?.response?.result
}

const execute = (sql: string) => ({ type: 'execute', stmt: { sql } })
const batch = (...steps: object[]) => ({ type: 'batch', batch: { steps } })

describe('the stand-in for a libSQL server', () => {
  test('it offers version 2 in JSON, and no later one', async () => {
    const { url } = await libsqlServer()
    expect((await fetch(`${url}/v2`)).status).toBe(200)
    for (const path of ['/v3', '/v3-protobuf']) expect((await fetch(url + path)).status).toBe(404)
  })

  test('values keep their type and their digits', async () => {
    const server = await libsqlServer()
    const args = [
      { type: 'null' },
      { type: 'integer', value: '9223372036854775807' },
      { type: 'float', value: 1 },
      { type: 'text', value: 'schlüssel' },
    ]
    const stmt = { sql: 'select ? as a, ? as b, ? as c, ? as d', args }
    const { results, baton } = await send(server, [{ type: 'execute', stmt }, { type: 'close' }])
    expect(baton).toBeNull()
    expect(resultOf(results)).toMatchObject({
      cols: [{ name: 'a' }, {}, {}, {}],
      rows: [args],
    })
    expect(results?.[1]).toEqual({ type: 'ok', response: { type: 'close' } })
  })

  test('a stored text is executed by its id', async () => {
    const server = await libsqlServer()
    const { results } = await send(server, [
      { type: 'store_sql', sql_id: 7, sql: 'select 5' },
      { type: 'execute', stmt: { sql_id: 7 } },
      { type: 'close_sql', sql_id: 7 },
    ])
    expect(resultOf(results, 1)?.rows).toEqual([[{ type: 'integer', value: '5' }]])
  })

  test('a batch whose steps succeed is committed, and reports each of them', async () => {
    const server = await prepared()
    const { results } = await send(server, [
      batch(
        begin,
        { stmt: insert(1), ...after(0) },
        { stmt: insert(2), ...after(1) },
        { stmt: { sql: 'commit' }, ...after(2) },
        { stmt: { sql: 'rollback' }, condition: { type: 'not', cond: after(3).condition } },
      ),
    ])
    const { step_results, step_errors } = resultOf(results) ?? {}
    expect(step_results?.[1]).toMatchObject({ affected_row_count: 1 })
    expect(step_results?.[4]).toBeNull()
    expect(step_errors).toEqual([null, null, null, null, null])
    expect(await ids(server)).toEqual(['1', '2'])
  })

  test('a batch with a step that fails changes nothing, and names the step and the code', async () => {
    const server = await prepared()
    const { results } = await send(server, [
      batch(
        begin,
        { stmt: insert(1), ...after(0) },
        { stmt: insert(1), ...after(1) },
        { stmt: insert(2), ...after(2) },
        { stmt: { sql: 'commit' }, ...after(3) },
        { stmt: { sql: 'rollback' }, condition: { type: 'not', cond: after(4).condition } },
      ),
    ])
    const { step_results, step_errors } = resultOf(results) ?? {}
    expect(step_errors?.[2]).toMatchObject({ code: expect.stringMatching(/^SQLITE_CONSTRAINT/) })
    expect(step_results?.map((result) => result !== null)).toEqual([
      true,
      true,
      false,
      false,
      false,
      true,
    ])
    expect(await ids(server)).toEqual([])
  })

  test('conditions combine, and know whether a transaction is open', async () => {
    const server = await prepared()
    const isOpen = { type: 'not', cond: { type: 'is_autocommit' } }
    const both = { type: 'and', conds: [isOpen, after(0).condition] }
    const either = { type: 'or', conds: [{ type: 'error', step: 0 }, isOpen] }
    const { results } = await send(server, [
      batch(
        begin,
        { stmt: insert(1), condition: both },
        { stmt: insert(2), condition: either },
        {
          stmt: { sql: 'commit' },
        },
        { stmt: insert(3), condition: both },
      ),
    ])
    expect(results?.[0]?.type).toBe('ok')
    expect(await ids(server)).toEqual(['1', '2'])
  })

  test('a transaction that is open at the end of its stream is rolled back', async () => {
    const server = await prepared()
    await send(server, [batch(begin, { stmt: insert(1) })])
    expect(await ids(server)).toEqual([])
  })

  test('a statement that fails is an error with a code; the next one of the stream is executed', async () => {
    const server = await prepared()
    const { results } = await send(server, [execute('select nothing'), execute('select 1')])
    expect(results?.[0]).toMatchObject({ type: 'error', error: { code: 'SQLITE_ERROR' } })
    expect(results?.[1]).toMatchObject({ type: 'ok' })
  })

  test('a request whose answer is lost has taken effect', async () => {
    const server = await prepared()
    server.loseAnswers(1)
    await expect(send(server, [{ type: 'execute', stmt: insert(1) }])).rejects.toThrow(
      'fetch failed',
    )
    expect(await ids(server)).toEqual(['1'])
  })

  test('another token than its own is refused before anything is executed', async () => {
    const server = await prepared('right')
    const request = [{ type: 'execute', stmt: insert(1) }]
    expect((await send(server, request, { authorization: 'Bearer wrong' })).status).toBe(401)
    expect((await send(server, request)).status).toBe(401)
    const { status, results } = await send(server, request, { authorization: 'Bearer right' })
    expect([status, results?.[0]?.type]).toEqual([200, 'ok'])
  })

  test('the official client gets all or nothing from it, with parallel writers', async () => {
    const server = await prepared()
    const clients = [1, 2, 3].map(() => createClient({ url: server.url }))
    onTestFinished(() => {
      for (const client of clients) client.close()
    })
    const write = (at: number) =>
      clients[at % 3]?.batch(
        [`insert into t values (${at}, 'x')`, `insert into t values (1000, 'x')`],
        'write',
      )
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, (_, at) => write(at)))
    const [won, ...others] = outcomes.flatMap(({ status }, at) =>
      status === 'fulfilled' ? [at] : [],
    )
    expect(others).toEqual([])
    expect(await ids(server)).toEqual([String(won), '1000'])
    const { reason } = outcomes.find((one) => one.status === 'rejected') as PromiseRejectedResult
    expect(reason).toMatchObject({ code: expect.stringMatching(/^SQLITE_CONSTRAINT/) })
  })
})
