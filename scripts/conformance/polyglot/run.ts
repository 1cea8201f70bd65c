/**
 * Runs unmodified clients in Python, Go and Java against the gateway, in front of strict upstreams
 * of four kinds. Builds what is missing, prints a table, and writes it to the docs.
 *
 *   npm run conformance:polyglot
 *   npm run conformance:polyglot -- --only go --kind google --api messages --verbose
 *
 * A program that cannot be built is skipped. A run with one kind writes no docs; one of some clients writes their rows. The exchanges of failed
 * cases are written to `.runtimes/conformance/failed`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand } from '../command.ts'
import { startGateway } from '../gateway.ts'
import { type Kind, kinds } from '../kinds.ts'
import { greeting } from '../upstream/scenario.ts'
import { startUpstream, type Exchange as UpstreamExchange } from '../upstream/server.ts'
import { judge, type Outcome, outcomeSchema, toLabel } from './outcome.ts'
import { buildFolder, type Command, type Program, programs } from './programs.ts'
import { startRelay } from './relay.ts'
import { renderOutcomes, writeReport } from './report.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    kind: { type: 'string' },
    api: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
})

const chosenPrograms = programs.filter(({ name }) => name === (values.only ?? name))
const chosenKinds = kinds.filter(({ name }) => name === (values.kind ?? name))
if (chosenPrograms.length === 0 || chosenKinds.length === 0)
  throw new Error('no such program or kind')

const failedFolder = join(buildFolder, 'failed')
rmSync(failedFolder, { recursive: true, force: true })
mkdirSync(failedFolder, { recursive: true })

const home = mkdtempSync(join(tmpdir(), 'conformance-'))
const upstream = await startUpstream()
const gateway = await startGateway(upstream.address, home)
const relay = await startRelay(gateway.address, takeUpstream)
/** The number of upstream calls so far that are in the exchanges of the relay, by kind. */
const callsSeen = new Map<string, number>()
const skipped: string[] = []
try {
  const outcomes = await runAll()
  process.stdout.write(`\n${renderOutcomes(outcomes)}\n\n`)
  for (const outcome of outcomes) report(outcome)
  if (outcomes.some(({ ok }) => !ok)) process.exitCode = 1
  for (const clients of skipped) process.stdout.write(`SKIPPED, not built: ${clients}\n`)
  const date = new Date().toISOString().slice(0, 10)
  if (values.kind === undefined && outcomes.length > 0) writeReport({ outcomes, skipped, date })
} finally {
  await relay.close()
  await gateway.stop()
  await upstream.close()
  rmSync(home, { recursive: true })
}

async function runAll(): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const program of chosenPrograms) {
    const command = await build(program)
    if (!command) continue
    // Much of the time is spent waiting, for the retries of a 429.
    const ofKinds = await Promise.all(chosenKinds.map((kind) => runProgram(command, kind)))
    outcomes.push(...ofKinds.flat())
  }
  return outcomes
}

async function build(program: Program): Promise<Command | undefined> {
  try {
    return await program.build()
  } catch (error) {
    process.stderr.write(`${String(error)}\n`)
    skipped.push(program.clients)
    return undefined
  }
}

async function runProgram(command: Command, kind: Kind): Promise<readonly Outcome[]> {
  const { failure, stdout, stderr } = await runCommand(command, {
    cwd: home,
    env: {
      HOME: home,
      LC_ALL: 'C.UTF-8',
      PYTHONDONTWRITEBYTECODE: '1',
      // Otherwise LiteLLM fetches its prices when it is imported.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      CONFORMANCE_ADDRESS: relay.address,
      CONFORMANCE_APIS: values.api ?? 'chat,messages,responses,gemini',
      CONFORMANCE_KEY: gateway.key,
      CONFORMANCE_KIND: kind.name,
      CONFORMANCE_SPENT_KEY: gateway.spentKey,
      CONFORMANCE_TEXT: greeting,
    },
    limit: 10 * 60_000,
  })
  if (failure !== undefined) {
    throw new Error(`${command.join(' ')} ended with ${failure}: ${stderr}`)
  }
  // LiteLLM prints advice between the lines of JSON.
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  return lines.map((line) => {
    const outcome = outcomeSchema.parse(JSON.parse(line))
    return judge(outcome, relay.exchangesOf(toLabel(outcome)))
  })
}

/** A client has one request at a time for each kind, so the kind of a label is enough. */
function takeUpstream(label: string): readonly UpstreamExchange[] {
  const [, , kind = ''] = label.split(':')
  const calls = upstream.exchanges.filter(({ path }) => path.startsWith(`/${kind}/`))
  const seen = callsSeen.get(kind) ?? 0
  callsSeen.set(kind, calls.length)
  return calls.slice(seen)
}

function report(outcome: Outcome): void {
  const label = toLabel(outcome)
  if (!outcome.ok) {
    const path = join(failedFolder, `${label.replaceAll(':', '-')}.json`)
    writeFileSync(path, JSON.stringify(relay.exchangesOf(label), null, 2))
  }
  if (!outcome.ok || values.verbose)
    process.stdout.write(`${outcome.ok ? '✓' : '✗'} ${label}: ${outcome.detail}\n`)
}
