/**
 * `npm run bench`: the gateway beside the upstream itself and the least possible proxy. Figures to standard
 * output, progress to standard error. `npm run bench:page` measures what docs/performance.md shows, and writes
 * its tables and that of the README. See bench/README.md.
 */
import type { ChildProcess } from 'node:child_process'
import { parseArgs } from 'node:util'
import type { EmbeddingsFigures } from './embeddings.ts'
import { type CountPlan, canCount, countInstructions, type Instructions } from './instructions.ts'
import { readMachine } from './machine.ts'
import { measureNodes, type NodeFigures } from './nodes.ts'
import { replaceFigures, replaceMarked } from './page.ts'
import { renderComparison } from './peers/comparison.ts'
import { readPeers } from './peers/figures.ts'
import { pageMeasurements, renderPage } from './performance.ts'
import { nextMessage, startScript, stopAll, stopAllAtExit } from './processes.ts'
import {
  embeddingsTable,
  hopsTable,
  instructionsTable,
  jsonReport,
  nodesTable,
  scenarioTable,
  usageTable,
  verdictTable,
} from './report.ts'
import { type Plan, type Rounds, runCold, runMixed, runScenario } from './rounds.ts'
import {
  cacheScenario,
  embeddingsName,
  hopsName,
  instructionsName,
  keyedScenario,
  nodesName,
  type Scenario,
  scenarios,
  sharedScenarios,
  startName,
  turnsName,
  usageName,
} from './scenarios.ts'
import type { HopCosts } from './stream-hops.ts'
import { type Field, startAll } from './subjects.ts'
import { compareTargets, type Results } from './targets.ts'
import type { UsageFigures } from './usage.ts'

const defaultPlan: Plan = { rounds: 25, roundMs: 300, warmUpMs: 4000 }
const pagePlan: Plan = { rounds: 20, roundMs: 300, warmUpMs: 3000 }
const quickPlan: Plan = { rounds: 3, roundMs: 200, warmUpMs: 350 }
/** How often the processes start that have not compiled their code. */
const coldStarts = 5
/** About three minutes for all scenarios together. */
const mixedPlan: Plan = { rounds: 12, roundMs: 300, warmUpMs: 1000 }

const countPlan: CountPlan = { warmUp: 1, countMs: 3_000, counts: 3 }
const quickCountPlan: CountPlan = { warmUp: 0.1, countMs: 500, counts: 1 }

const known = [
  startName,
  turnsName,
  hopsName,
  embeddingsName,
  usageName,
  nodesName,
  instructionsName,
  ...scenarios.map(({ name }) => name),
]

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    mixed: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
    group: { type: 'string', default: '4' },
    only: { type: 'string' },
  },
})

stopAllAtExit()
const broken = await bench()
await stopAll()
for (const problem of broken) console.error(problem)
process.exit(broken.length > 0 ? 1 : 0)

/** Returns the names of what is measured. Without a choice, that is all that needs no other program. */
function listWanted(): readonly string[] {
  if (options.page) return pageMeasurements
  if (options.only) return options.only.split(',')
  const others = new Set([nodesName, instructionsName, ...sharedScenarios])
  return known.filter((name) => !others.has(name))
}

/** Measures, prints the report, and returns the failures. */
async function bench(): Promise<string[]> {
  if (process.platform !== 'linux') return ['the bench reads /proc: it runs on Linux only']
  const wanted = listWanted()
  const unknown = wanted.filter((name) => !known.includes(name))
  if (unknown.length > 0) return [`unknown: ${unknown.join()}; there is ${known.join()}`]
  if (wanted.includes(instructionsName) && !canCount()) return ['valgrind is not installed']

  progress('starting')
  const field = await startAll({
    group: options.group,
    gatewayStarts: wanted.includes(startName) ? 5 : 1,
    withKeyed: [keyedScenario, ...sharedScenarios].some((name) => wanted.includes(name)),
    withSharing: sharedScenarios.some((name) => wanted.includes(name)),
    withCached: wanted.includes(cacheScenario),
  })
  const load = startScript('load')
  const chosen = scenarios.filter(({ name }) => wanted.includes(name))
  const results = await measure(chosen, { field, load })
  const start = wanted.includes(startName) ? field.start : undefined
  const hundredTurns = wanted.includes(turnsName) ? await measureTurns() : undefined
  const hops = wanted.includes(hopsName) ? await measureHops() : undefined
  const embeddings = wanted.includes(embeddingsName) ? await measureEmbeddings() : undefined
  const usage = wanted.includes(usageName) ? await measureUsage() : undefined
  const nodes = wanted.includes(nodesName) ? await compareNodes(load) : undefined
  const instructions = wanted.includes(instructionsName) ? await count(load) : undefined
  const others = { start, hundredTurns, hops, embeddings, usage, nodes, instructions }
  const problems = [
    ...(field.start ? [] : ['gateway: not built, not measured']),
    ...errorsIn(results),
  ]
  if (!options.page) print(chosen, { scenarios: results, ...others })
  else if (problems.length === 0) publish({ scenarios: results, ...others })
  return problems
}

async function measure(
  chosen: readonly Scenario[],
  { field, load }: { field: Field; load: ChildProcess },
): Promise<Record<string, Rounds>> {
  const results: Record<string, Rounds> = {}
  const plan = choosePlan()
  const isCold = ({ firstRequests }: Scenario) => firstRequests !== undefined
  const [upstream] = field.subjects
  for (const scenario of chosen.filter(isCold)) {
    if (!upstream) break
    progress(scenario.title)
    const starts = options.quick ? 1 : coldStarts
    results[scenario.name] = await runCold(scenario, { upstream, load, starts })
  }
  const warm = chosen.filter((scenario) => !isCold(scenario))
  if (options.mixed) {
    progress('all loads in turn')
    return { ...results, ...(await runMixed(warm, { field, load, plan })) }
  }
  for (const scenario of warm) {
    progress(scenario.title)
    results[scenario.name] = await runScenario(scenario, { field, load, plan })
  }
  return results
}

function choosePlan(): Plan {
  if (options.quick) return quickPlan
  if (options.mixed) return mixedPlan
  return options.page ? pagePlan : defaultPlan
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

async function compareNodes(load: ChildProcess): Promise<readonly NodeFigures[]> {
  progress('the release lines of Node')
  const plan = options.quick ? quickPlan : { rounds: 15, roundMs: 300, warmUpMs: 2_500 }
  return measureNodes({ load, plan })
}

async function count(load: ChildProcess): Promise<Instructions> {
  progress('instructions')
  return countInstructions({ load, plan: options.quick ? quickCountPlan : countPlan })
}

/** Writes the tables of the pages. Figures of a quick run are only printed. */
function publish(results: Results): void {
  const page = renderPage({ results, machine: readMachine(), peers: readPeers() })
  if (options.quick) return console.log(page)
  replaceFigures('docs/performance.md', page)
  replaceMarked('README.md', { mark: 'peers', text: renderComparison(readPeers()) })
}

function print(chosen: readonly Scenario[], results: Results): void {
  const verdicts = compareTargets(results)
  const machine = readMachine()
  if (options.json) return console.log(jsonReport({ machine, results, verdicts }))
  console.log(`Node ${machine.node}, ${machine.cpu}\n`)
  for (const scenario of chosen) {
    console.log(scenarioTable(scenario, results.scenarios[scenario.name] ?? {}))
  }
  if (results.hops) console.log(hopsTable(results.hops))
  if (results.embeddings) console.log(embeddingsTable(results.embeddings))
  if (results.usage) console.log(usageTable(results.usage))
  if (results.nodes) console.log(nodesTable(results.nodes))
  if (results.instructions) console.log(instructionsTable(results.instructions))
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
