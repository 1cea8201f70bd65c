import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import Database from 'libsql'

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
  /** The step is executed only if this holds. */
  readonly condition?: Condition | null
}

type Condition =
  | { readonly type: 'ok' | 'error'; readonly step: number }
  | { readonly type: 'not'; readonly cond: Condition }
  | { readonly type: 'and' | 'or'; readonly conds: readonly Condition[] }
  | { readonly type: 'is_autocommit' }

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

interface Failure {
  readonly message: string
  readonly code: string
}

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
  execute(sql: string): unknown
  stop(): void
}

export interface LibsqlServerOptions {
  /** The token that it accepts; all without it. */
  readonly token?: string | undefined
  /** The file of the database; in memory without it. */
  readonly path?: string | undefined
}

/**
 * Starts a libSQL server, for what the gateway uses of the protocol: streams of a single request, statements,
 * and batches with conditions. End it with `stop`.
 */
export async function startLibsqlServer({
  token,
  path = ':memory:',
}: LibsqlServerOptions = {}): Promise<LibsqlServer> {
  const database = new Database(path)
  database.defaultSafeIntegers(true)
  const tokens = new Set<string | undefined>()
  const frames = new Set<string>()
  let toLose = 0
  let isHolding = false
  let held = 0
  const server = createServer(async (request, response) => {
    // The server offers version 2 of the protocol, in JSON.
    if (request.method === 'GET') return response.writeHead(request.url === '/v2' ? 200 : 404).end()
    const { authorization } = request.headers
    tokens.add(authorization)
    response.setHeader('content-type', 'application/json')
    if (token !== undefined && authorization !== `Bearer ${token}`) {
      return response.writeHead(401).end('{"error":"the token is not valid"}')
    }
    if (isHolding) return void held++
    const { requests } = (await body(request)) as Pipeline
    const results = runStream(database, requests, frames)
    if (toLose-- > 0) return request.socket.destroy()
    response.end(JSON.stringify({ baton: null, base_url: null, results }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
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
    execute: (sql) => run(database, { sql, args: [] }),
    stop() {
      server.closeAllConnections()
      server.close()
      database.close()
    },
  }
}

async function body(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request) text += chunk
  return JSON.parse(text)
}

/** Runs the requests of one stream, without others in between. A transaction ends with its stream. */
function runStream(
  database: Database.Database,
  requests: readonly PipelineRequest[],
  frames: Set<string>,
): unknown[] {
  const texts = new Map<number, string>()
  const find = ({ sql, sql_id = 0, args = [] }: Statement) => ({
    sql: sql ?? texts.get(sql_id) ?? '',
    args,
  })
  const results = requests.map((request) => {
    switch (request.type) {
      case 'store_sql':
        texts.set(request.sql_id, request.sql)
        return ok({ type: 'store_sql' })
      case 'execute': {
        const outcome = attempt(() => run(database, find(request.stmt)))
        return outcome.error
          ? { type: 'error', error: outcome.error }
          : ok({ type: 'execute', result: outcome.result })
      }
      case 'batch': {
        const steps = request.batch.steps.map(({ stmt, condition }) => ({
          ...find(stmt),
          condition,
        }))
        frames.add(steps.flatMap(({ sql }) => (isFrame(sql) ? [sql] : [])).join('; '))
        return ok({ type: 'batch', result: runBatch(database, steps) })
      }
      default:
        return ok({ type: request.type })
    }
  })
  if (database.inTransaction) database.exec('rollback')
  return results
}

interface FoundStep {
  readonly sql: string
  readonly args: readonly Value[]
  readonly condition?: Condition | null | undefined
}

/** Executes the steps whose conditions hold. A failed step does not end the batch. */
function runBatch(database: Database.Database, steps: readonly FoundStep[]) {
  const step_results: unknown[] = steps.map(() => null)
  const step_errors: (Failure | null)[] = steps.map(() => null)
  const holds = (condition: Condition): boolean => {
    switch (condition.type) {
      case 'ok':
        return step_results[condition.step] !== null
      case 'error':
        return step_errors[condition.step] !== null
      case 'not':
        return !holds(condition.cond)
      case 'and':
        return condition.conds.every(holds)
      case 'or':
        return condition.conds.some(holds)
      case 'is_autocommit':
        return !database.inTransaction
      default:
        return condition satisfies never
    }
  }
  for (const [at, { condition, ...statement }] of steps.entries()) {
    if (condition && !holds(condition)) continue
    const outcome = attempt(() => run(database, statement))
    if (outcome.error) step_errors[at] = outcome.error
    else step_results[at] = outcome.result
  }
  return { step_results, step_errors }
}

function isFrame(sql: string): boolean {
  return /^(begin|commit|rollback|pragma)\b/i.test(sql)
}

function run(database: Database.Database, { sql, args }: Pick<FoundStep, 'sql' | 'args'>) {
  const statement = database.prepare(sql)
  const values = args.map(valueIn)
  if (!statement.reader) {
    const { changes } = statement.run(values)
    return { cols: [], rows: [], affected_row_count: Number(changes), last_insert_rowid: null }
  }
  const cols = statement.columns().map(({ name }) => ({ name, decltype: null }))
  // In raw mode rows are arrays.
  const rows = statement.raw(true).all(values) as unknown[][]
  return {
    cols,
    rows: rows.map((row) => row.map(valueOut)),
    affected_row_count: 0,
    last_insert_rowid: null,
  }
}

function attempt<Result>(work: () => Result): { result?: Result; error?: Failure } {
  try {
    return { result: work() }
  } catch (error) {
    const { message, code } = error as Failure
    return { error: { message, code } }
  }
}

function ok(response: unknown) {
  return { type: 'ok', response }
}

function valueIn(value: Value): unknown {
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
  if (typeof value === 'bigint') return { type: 'integer', value: String(value) }
  return { type: 'float', value: Number(value) }
}
