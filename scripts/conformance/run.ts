/**
 * Runs unmodified clients from the package registry against the gateway, in front of strict
 * upstreams: four APIs of vendors, eleven models behind the OpenAI format, and four vendors of decisions. Prints
 * tables, and writes them to the docs.
 *
 *   npm run conformance
 *   npm run conformance -- --only claude-code --kind google
 *
 * `--requests FILE` adds what the upstream saw to a file, a request a line: it shows what a client sent where a cell has
 * a refusal. A run of some clients writes their rows, where they ran with all kinds of a table. `--kind compatible` runs and writes
 * only the upstreams of the OpenAI format.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { claudeCode } from './agents/claude-code.ts'
import { codexes } from './agents/codex.ts'
import { geminiCli } from './agents/gemini-cli.ts'
import { opencodes } from './agents/opencode.ts'
import { type Client, type Door, takesKind } from './client.ts'
import { startGateway } from './gateway.ts'
import { allKinds, isCompatible, type Kind } from './kinds.ts'
import { type Result, renderResults, toProblems, toRefusals, writeReport } from './report.ts'
import type { Outcome } from './sdks/checks.ts'
import { sdks } from './sdks/index.ts'
import { isRecord } from './upstream/json-schema.ts'
import { type Exchange, startUpstream } from './upstream/server.ts'

const { values } = parseArgs({
  options: { only: { type: 'string' }, kind: { type: 'string' }, requests: { type: 'string' } },
})

const allClients = [claudeCode, ...codexes, geminiCli, ...opencodes, ...sdks]
const clients = allClients.filter(({ name }) => name === (values.only ?? name))
const chosenKinds = allKinds.filter((kind) =>
  values.kind === 'compatible' ? isCompatible(kind) : kind.name === (values.kind ?? kind.name),
)
if (clients.length === 0 || chosenKinds.length === 0) throw new Error('no such client or kind')

/** How many kinds a client runs with at once. */
const lanes = 6

const folder = 'scripts/conformance'
// `npm ci` refuses a lock file without the builds for other platforms, which some registries do not have.
if (!existsSync(`${folder}/node_modules`))
  execFileSync('npm', ['install', '--no-save', '--prefix', folder])

const home = mkdtempSync(join(tmpdir(), 'conformance-'))
const upstream = await startUpstream()
const gateway = await startGateway(upstream.address, home)
try {
  const results = await runAll(gateway)
  process.stdout.write(`\n${renderResults(results)}\n\n`)
  for (const line of toRefusals(results)) process.stdout.write(`refused: ${line}\n`)
  for (const line of toProblems(results)) process.stdout.write(`✗ ${line}\n`)
  if (toProblems(results).length > 0) process.exitCode = 1
  const date = new Date().toISOString().slice(0, 10)
  writeReport(results, { clients: allClients, date })
} finally {
  await gateway.stop()
  await upstream.close()
  rmSync(home, { recursive: true })
}

/** A client runs with some kinds at once: the paths and the models show whose requests they are. */
async function runAll(door: Door): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const client of clients) {
    upstream.forget()
    const waiting = chosenKinds.filter((kind) => takesKind(client, kind)).entries()
    const ofClient: Result[] = []
    const runLane = async () => {
      for (const [index, kind] of waiting) {
        process.stderr.write(`${client.title}, ${kind.title}\n`)
        const started = Date.now()
        const outcomes = await runClient(client, kind, door)
        const seen = upstream.exchanges.filter((exchange) => isOf(kind, exchange))
        if (values.requests !== undefined) {
          const lines = seen.map((exchange) => JSON.stringify({ client: client.name, ...exchange }))
          appendFileSync(values.requests, lines.map((line) => `${line}\n`).join(''))
        }
        ofClient[index] = {
          client,
          kind,
          outcomes: judge({ client, kind, outcomes, seen, started }),
        }
      }
    }
    await Promise.all(Array.from({ length: lanes }, runLane))
    results.push(...ofClient)
  }
  return results
}

/** Two kinds of one upstream differ in the model. */
function isOf({ path, upstreamModel }: Kind, exchange: Exchange): boolean {
  if (!exchange.path.startsWith(`${path}/`)) return false
  const { body } = exchange
  const model = isRecord(body) ? body['model'] : undefined
  return typeof model !== 'string' || model.startsWith(upstreamModel)
}

async function runClient(client: Client, kind: Kind, door: Door): Promise<readonly Outcome[]> {
  try {
    return await client.run(kind, door)
  } catch (error) {
    return [{ check: 'run', problem: String(error) }]
  }
}

interface Judged extends Result {
  /** The requests of the client, as the upstream saw them. */
  readonly seen: readonly Exchange[]
  /** When the client started, in milliseconds. */
  readonly started: number
}

/** Adds the faults of the requests that the upstream saw. */
function judge({ client, kind, outcomes, seen, started }: Judged): readonly Outcome[] {
  // Here the client speaks the API of the upstream, and the gateway changes nothing.
  const passes = client.api === 'Chat' ? isCompatible(kind) : client.refusedBy?.includes(kind.name)
  if (passes) return outcomes.map((outcome) => excuse(outcome, seen))
  return [
    ...outcomes,
    ...seen.flatMap((exchange) => findFaults(client, exchange)),
    ...findDelay(client, (seen[0]?.at ?? Infinity) - started),
  ]
}

/** A client that waits before its first request has lost time with something that the gateway answers. */
function findDelay({ firstRequestWithin: bound }: Client, taken: number): Outcome[] {
  if (bound === undefined) return []
  const problem = `its first request came after ${taken} ms`
  return [{ check: 'first request', ...(taken > bound && { problem }) }]
}

/** A check that failed because of what the client itself wrote. */
function excuse(outcome: Outcome, seen: readonly Exchange[]): Outcome {
  const { check, problem } = outcome
  const words = seen
    .flatMap(({ refusal }) => (refusal && !refusal.isScripted ? [refusal.message] : []))
    .find((message) => problem?.includes(message.slice(0, 60)))
  return words === undefined ? outcome : { check, refused: words }
}

function findFaults({ carriesProofs }: Client, exchange: Exchange): Outcome[] {
  const { path, refusal, lacksProof, misread } = exchange
  const toFault = (problem: string): Outcome[] => [
    { check: 'upstream', problem: `${path}: ${problem}` },
  ]
  if (refusal && !refusal.isScripted) return toFault(`${refusal.status} ${refusal.message}`)
  if (misread !== undefined) return toFault(misread)
  return carriesProofs && lacksProof ? toFault('a proof of reasoning is lost') : []
}
