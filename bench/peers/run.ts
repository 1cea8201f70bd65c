/**
 * `npm run bench:peers`: the gateway and other gateways in front of the same fake upstream. Installs them first,
 * outside the dependencies of the product. Writes `figures.json`, from which `npm run bench:page` takes them, and
 * prints their table; `--quick` only prints. Takes about five minutes.
 */
import { parseArgs } from 'node:util'
import { readMachine } from '../machine.ts'
import { median } from '../measure.ts'
import { startScript, stopAll, stopAllAtExit } from '../processes.ts'
import { familyMegabytes, type Plan, type Rounds, runScenario } from '../rounds.ts'
import { findScenario } from '../scenarios.ts'
import { type Subject, startBaseline, startPlain, startUpstream } from '../subjects.ts'
import { rate } from '../targets.ts'
import { type PeerFigures, type PeerRow, peerScenarios, writePeers } from './figures.ts'
import { litellm } from './litellm.ts'
import type { Peer } from './peer.ts'
import { portkey } from './portkey.ts'
import { peersTable } from './table.ts'

const peers: readonly Peer[] = [portkey, litellm]

// The slowest of them need rounds of a second for enough requests.
const fullPlan: Plan = { rounds: 9, roundMs: 1_000, warmUpMs: 5_000 }
const quickPlan: Plan = { rounds: 2, roundMs: 500, warmUpMs: 1_000 }

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })

stopAllAtExit()
const figures = await compare()
await stopAll()
console.log(peersTable(figures))
if (!options.quick) writePeers(figures)

async function compare(): Promise<PeerFigures> {
  const machine = readMachine()
  const upstream = await startUpstream('4')
  const versions = new Map<string, string>()
  const subjects: Subject[] = []
  const missing: Record<string, string> = {}
  subjects.push(await startBaseline(upstream.port), await startPlain(upstream.port))
  versions.set('baseline', machine.commit).set('gateway', machine.commit)
  for (const { name, install, start } of peers) {
    progress(`installs and starts ${name}`)
    try {
      versions.set(name, install())
      subjects.push(await start(upstream.port))
    } catch (error) {
      missing[name] = `it could not be installed and started here: ${error}`
    }
  }
  const load = startScript('load')
  const field = { subjects, upstreamPid: upstream.pid }
  const results = new Map<string, Rounds>()
  for (const name of peerScenarios) {
    const scenario = findScenario(name)
    progress(scenario.title)
    const plan = options.quick ? quickPlan : fullPlan
    // Parts are for subjects that answer in less than a millisecond.
    results.set(name, await runScenario({ ...scenario, parts: 1 }, { field, load, plan }))
  }
  const rows = subjects.map((subject) => {
    const row = summarize(subject, results)
    return [subject.name, { version: versions.get(subject.name) ?? '', ...row }]
  })
  return { machine, rows: Object.fromEntries(rows), missing }
}

function summarize(subject: Subject, results: Map<string, Rounds>): Omit<PeerRow, 'version'> {
  const scenarios = Array.from(results, ([name, { [subject.name]: rounds = [] }]) => [
    name,
    {
      rate: rounded(median(rounds.map(rate))),
      cpu: rounded(median(rounds.map(({ cpu, requests }) => cpu.proxy / requests))),
      errors: rounds.reduce((sum, { errors }) => sum + errors, 0),
    },
  ])
  return {
    scenarios: Object.fromEntries(scenarios),
    megabytes: rounded(familyMegabytes(subject)),
  }
}

function rounded(value: number): number {
  return Number(value.toPrecision(4))
}

function progress(message: string): void {
  console.error(`peers: ${message}`)
}
