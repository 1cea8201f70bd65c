/**
 * Runs unmodified clients from the package registry against the gateway, in front of strict
 * upstreams of four kinds. Prints a table, and writes it to the docs.
 *
 *   npm run conformance
 *   npm run conformance -- --only claude-code --kind google
 *
 * A partial run writes no docs.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { claudeCode } from './agents/claude-code.ts'
import { codexes } from './agents/codex.ts'
import type { Client, Door } from './client.ts'
import { startGateway } from './gateway.ts'
import { type Kind, kinds } from './kinds.ts'
import { type Result, renderResults, toProblems, writeReport } from './report.ts'
import type { Outcome } from './sdks/checks.ts'
import { sdks } from './sdks/index.ts'
import { startUpstream, type Upstream } from './upstream/server.ts'

const { values } = parseArgs({
  options: { only: { type: 'string' }, kind: { type: 'string' } },
})

const clients = [claudeCode, ...codexes, ...sdks].filter(
  ({ name }) => name === (values.only ?? name),
)
const chosenKinds = kinds.filter(({ name }) => name === (values.kind ?? name))
if (clients.length === 0 || chosenKinds.length === 0) throw new Error('no such client or kind')

const folder = 'scripts/conformance'
if (!existsSync(`${folder}/node_modules`)) execFileSync('npm', ['ci', '--prefix', folder])

const home = mkdtempSync(join(tmpdir(), 'conformance-'))
const upstream = await startUpstream()
const gateway = await startGateway(upstream.address, home)
try {
  const results = await runAll(gateway)
  process.stdout.write(`\n${renderResults(results)}\n\n`)
  for (const line of toProblems(results)) process.stdout.write(`✗ ${line}\n`)
  if (toProblems(results).length > 0) process.exitCode = 1
  const isWhole = values.only === undefined && values.kind === undefined
  if (isWhole) writeReport(results, new Date().toISOString().slice(0, 10))
} finally {
  await gateway.stop()
  await upstream.close()
  rmSync(home, { recursive: true })
}

/** Clients run one after the other, so that each sees only its own requests. */
async function runAll(door: Door): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const client of clients) {
    for (const kind of chosenKinds) {
      process.stderr.write(`${client.title}, ${kind.title}\n`)
      upstream.forget()
      const outcomes = await runClient(client, kind, door)
      results.push({ client, kind, outcomes: [...outcomes, ...judge(client, upstream)] })
    }
  }
  return results
}

async function runClient(client: Client, kind: Kind, door: Door): Promise<readonly Outcome[]> {
  try {
    return await client.run(kind, door)
  } catch (error) {
    return [{ check: 'run', problem: String(error) }]
  }
}

/** The faults of the requests that the upstream saw. */
function judge({ carriesProofs }: Client, { exchanges }: Upstream): Outcome[] {
  return exchanges.flatMap(({ path, refusal, lacksProof }) => {
    const isRefused = refusal && !refusal.isScripted
    if (isRefused)
      return [{ check: 'upstream', problem: `${path}: ${refusal.status} ${refusal.message}` }]
    const isLost = carriesProofs && lacksProof
    return isLost ? [{ check: 'upstream', problem: `${path}: a proof of reasoning is lost` }] : []
  })
}
