/**
 * `npm run bench`: the gateway beside the upstream itself, the least possible proxy and, when it is
 * installed, a peer. Figures to standard output, progress to standard error. See bench/README.md.
 */
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import type { EmbeddingsFigures } from './embeddings.ts'
import { nextMessage, startScript, stopAll, stopAllAtExit } from './processes.ts'
import {
  embeddingsTable,
  hopsTable,
  jsonReport,
  scenarioTable,
  usageTable,
  verdictTable,
} from './report.ts'
import { type Plan, type Rounds, runScenario } from './rounds.ts'
import {
  cacheScenario,
  keyedScenario,
  type Scenario,
  scenarios,
  sharedScenarios,
} from './scenarios.ts'
import type { HopCosts } from './stream-hops.ts'
import { startAll } from './subjects.ts'
import { compareTargets, type Results } from './targets.ts'
import type { UsageFigures } from './usage.ts'

const defaultPlan: Plan = { rounds: 25, roundMs: 300, warmUpMs: 4000 }
const quickPlan: Plan = { rounds: 3, roundMs: 200, warmUpMs: 350 }

/** The name for `--only` of the measurement of start and idle memory. */
const startName = 'start'
/** The name of the measurement of long conversations. */
const turnsName = 'turns100'

/** The name of the measurement of the hops of a stream. */
const hopsName = 'hops'
/** The name of the measurement of large embeddings. */
const embeddingsName = 'embeddings'
/** The name of the measurement of a long usage log. */
const usageName = 'usage'

const known = [
  startName,
  turnsName,
  hopsName,
  embeddingsName,
  usageName,
  ...scenarios.map(({ name }) => name),
]

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    group: { type: 'string', default: '4' },
    only: { type: 'string', default: known.filter((name) => !isOptional(name)).join() },
  },
})

stopAllAtExit()
const broken = await bench()
await stopAll()
for (const problem of broken) console.error(problem)
process.exit(broken.length > 0 ? 1 : 0)

/** True for the scenarios that need a program which a machine may lack. */
function isOptional(name: string): boolean {
  return sharedScenarios.some((shared) => shared === name)
}

/** Measures, prints the report, and returns the failures. */
async function bench(): Promise<string[]> {
  if (process.platform !== 'linux') return ['the bench reads /proc: it runs on Linux only']
  const wanted = options.only.split(',')
  const unknown = wanted.filter((name) => !known.includes(name))
  if (unknown.length > 0) return [`unknown: ${unknown.join()}; there is ${known.join()}`]

  progress('starting')
  const field = await startAll({
    group: options.group,
    gatewayStarts: wanted.includes(startName) ? 5 : 1,
    withKeyed: [keyedScenario, ...sharedScenarios].some((name) => wanted.includes(name)),
    withSharing: sharedScenarios.some((name) => wanted.includes(name)),
    withCached: wanted.includes(cacheScenario),
  })
  const load = startScript('load')
  const results: Record<string, Rounds> = {}
  const chosen = scenarios.filter(({ name }) => wanted.includes(name))
  for (const scenario of chosen) {
    progress(scenario.title)
    const plan = options.quick ? quickPlan : defaultPlan
    results[scenario.name] = await runScenario(scenario, { field, load, plan })
  }
  const start = wanted.includes(startName) ? field.start : undefined
  const hundredTurns = wanted.includes(turnsName) ? await measureTurns() : undefined
  const hops = wanted.includes(hopsName) ? await measureHops() : undefined
  const embeddings = wanted.includes(embeddingsName) ? await measureEmbeddings() : undefined
  const usage = wanted.includes(usageName) ? await measureUsage() : undefined
  print(chosen, { start, scenarios: results, hundredTurns, hops, embeddings, usage })
  return [...(field.start ? [] : ['gateway: not built, not measured']), ...errorsIn(results)]
}

async function measureTurns(): Promise<Readonly<Record<string, number>>> {
  progress('100 turns with tools')
  // Its only message: milliseconds by kind.
  return (await nextMessage(startScript('hundred-turns'))) as Readonly<Record<string, number>>
}

async function measureHops(): Promise<HopCosts> {
  progress('the hops of a stream')
  // Its only message.
  return (await nextMessage(startScript('stream-hops'))) as HopCosts
}

async function measureEmbeddings(): Promise<EmbeddingsFigures> {
  progress('2,048 embeddings of 1,536 numbers')
  const client = startScript('embeddings', ['--runs', options.quick ? '3' : '9'])
  // Its only message.
  return (await nextMessage(client)) as EmbeddingsFigures
}

async function measureUsage(): Promise<UsageFigures> {
  progress('the usage log of a million rows')
  const script = startScript('usage', ['--days', '30', ...(options.quick ? ['--runs', '3'] : [])])
  // Its only message.
  return (await nextMessage(script)) as UsageFigures
}

function print(chosen: readonly Scenario[], results: Results): void {
  const verdicts = compareTargets(results)
  const machine = { node: process.version, cpus: cpus().length, cpu: cpus()[0]?.model }
  if (options.json) return console.log(jsonReport({ machine, results, verdicts }))
  console.log(`Node ${machine.node}, ${machine.cpus} x ${machine.cpu}\n`)
  for (const scenario of chosen) {
    console.log(scenarioTable(scenario, results.scenarios[scenario.name] ?? {}))
  }
  if (results.hops) console.log(hopsTable(results.hops))
  if (results.embeddings) console.log(embeddingsTable(results.embeddings))
  if (results.usage) console.log(usageTable(results.usage))
  if (verdicts.length > 0) console.log(verdictTable(verdicts))
}

function errorsIn(results: Readonly<Record<string, Rounds>>): string[] {
  return Object.entries(results).flatMap(([scenario, subjects]) =>
    Object.entries(subjects).flatMap(([subject, rounds]) => {
      const errors = rounds.reduce((sum, round) => sum + round.errors, 0)
      return errors > 0 ? [`${scenario}: ${errors} bad answers from ${subject}`] : []
    }),
  )
}

function progress(message: string): void {
  console.error(`bench: ${message}`)
}
