import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Client, createClient, type InValue, LibsqlBatchError } from '@libsql/client/sqlite3'
import { onTestFinished } from 'vitest'

/** A request of a client: SQL over HTTP, in JSON. */
interface Pipeline {
  readonly requests: readonly PipelineRequest[]
}

type PipelineRequest =
  | { readonly type: 'execute'; readonly stmt: Statement }
  | { readonly type: 'batch'; readonly batch: { readonly steps: readonly Step[] } }
  | { readonly type: 'store_sql'; readonly sql_id: number; readonly sql: string }
  | { readonly type: 'close_sql'; readonly sql_id: number }
  | { readonly type: 'close' }

interface Step {
  readonly stmt: Statement
  readonly condition?: unknown
}

interface Statement {
  readonly sql?: string
  readonly sql_id?: number
  readonly args?: readonly Value[]
}

type Value =
  | { readonly type: 'null' }
  | { readonly type: 'integer'; readonly value: string }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'text'; readonly value: string }

export interface LibsqlServer {
  readonly url: string
  readonly tokens: Set<string | undefined>
  /** The statements that begin and end every batch. */
  readonly frames: Set<string>
  /** Number of requests without a response. */
  readonly held: number
  /** Executes the next requests and drops their responses. */
  loseAnswers(count: number): void
  /** Stops responding to requests. */
  hold(): void
  /** Runs a statement directly in the database. */
  execute(sql: string): Promise<unknown>
}

/** A minimal libSQL server with a database in memory. */
export async function libsqlServer(): Promise<LibsqlServer> {
  const client = createClient({ url: ':memory:', concurrency: 1 })
  const tokens = new Set<string | undefined>()
  const frames = new Set<string>()
  let toLose = 0
  let isHolding = false
  let held = 0
  const server = createServer(async (request, response) => {
    // The server offers version 2 of the protocol, in JSON.
    if (request.method === 'GET') return response.writeHead(request.url === '/v2' ? 200 : 404).end()
    tokens.add(request.headers.authorization)
    if (isHolding) return void held++
    const { requests } = (await body(request)) as Pipeline
    const texts = new Map<number, string>()
    const results = []
    for (const each of requests) results.push(await answer(client, each, texts, frames))
    if (toLose-- > 0) return request.socket.destroy()
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ baton: null, base_url: null, results }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
    client.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    tokens,
    frames,
    get held() {
      return held
    },
    loseAnswers(count) {
      toLose = count
    },
    hold() {
      isHolding = true
    },
    execute: (sql) => client.execute(sql),
  }
}

async function body(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request) text += chunk
  return JSON.parse(text)
}

async function answer(
  client: Client,
  request: PipelineRequest,
  texts: Map<number, string>,
  frames: Set<string>,
): Promise<unknown> {
  const inStatement = ({ sql, sql_id = 0, args = [] }: Statement) => ({
    sql: sql ?? texts.get(sql_id) ?? '',
    args: args.map(valueIn),
  })
  switch (request.type) {
    case 'store_sql':
      texts.set(request.sql_id, request.sql)
      return ok({ type: 'store_sql' })
    case 'execute':
      try {
        return ok({
          type: 'execute',
          result: result(await client.execute(inStatement(request.stmt))),
        })
      } catch (error) {
        return { type: 'error', error: failure(error) }
      }
    case 'batch': {
      const steps = request.batch.steps.map(({ stmt }) => inStatement(stmt))
      const isFrame = ({ sql }: { sql: string }) => /^(begin|commit|rollback|pragma)\b/i.test(sql)
      frames.add(
        steps
          .filter(isFrame)
          .map(({ sql }) => sql)
          .join('; '),
      )
      const inner = steps.filter((step) => !isFrame(step))
      const offset = steps.findIndex((step) => !isFrame(step))
      const step_results: unknown[] = steps.map(() => empty)
      const step_errors: unknown[] = steps.map(() => null)
      try {
        const results = await client.batch(inner, 'write')
        results.forEach((each, at) => {
          step_results[offset + at] = result(each)
        })
      } catch (error) {
        const failed = offset + (error instanceof LibsqlBatchError ? error.statementIndex : 0)
        step_results.fill(null, failed)
        step_errors[failed] = failure(error)
      }
      return ok({ type: 'batch', result: { step_results, step_errors } })
    }
    default:
      return ok({ type: request.type })
  }
}

const empty = { cols: [], rows: [], affected_row_count: 0, last_insert_rowid: null }

function ok(response: unknown) {
  return { type: 'ok', response }
}

function failure(error: unknown) {
  const { message, code } = error as { message: string; code: string }
  return { message, code }
}

function result({ columns, rows, rowsAffected }: Awaited<ReturnType<Client['execute']>>) {
  return {
    cols: columns.map((name) => ({ name, decltype: null })),
    rows: rows.map((row) => columns.map((_, at) => valueOut(row[at]))),
    affected_row_count: rowsAffected,
    last_insert_rowid: null,
  }
}

function valueIn(value: Value): InValue {
  switch (value.type) {
    case 'null':
      return null
    case 'integer':
      return BigInt(value.value)
    default:
      return value.value
  }
}

function valueOut(value: unknown): Value {
  if (value === null || value === undefined) return { type: 'null' }
  if (typeof value === 'string') return { type: 'text', value }
  if (Number.isInteger(value)) return { type: 'integer', value: String(value) }
  return { type: 'float', value: Number(value) }
}
