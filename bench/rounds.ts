import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Job, Sample } from './load.ts'
import { listFamily, residentMegabytes } from './measure.ts'
import type { Asked, Scenario } from './scenarios.ts'
import { extraSubjects, type Field, type Subject, startBaseline, startPlain } from './subjects.ts'

/** The duration of the measurement. */
export interface Plan {
  readonly rounds: number
  readonly roundMs: number
  readonly warmUpMs: number
}

export interface Round extends Sample {
  /** Resident memory of all processes of the proxy after the round. */
  readonly megabytes: number
}

/** The results of one scenario: the rounds of each row of its table, in order. */
export type Rounds = Readonly<Record<string, readonly Round[]>>

/** A measured subject and its request. */
interface Row extends Asked {
  readonly name: string
  readonly subject: Subject
}

export interface RoundOptions {
  readonly field: Field
  readonly load: ChildProcess
  readonly plan: Plan
}

/**
 * Runs the scenario against all subjects in turn, in short alternating rounds: other load on the
 * machine affects all of them, so the figures of one round are comparable. Shared
 * machines change their speed within fractions of a second, so there are many short rounds.
 */
export async function runScenario(scenario: Scenario, options: RoundOptions): Promise<Rounds> {
  const run = await ScenarioRun.warmUp(scenario, options)
  for (let round = 0; round < options.plan.rounds; round++) await run.measureRound()
  return run.rounds
}

/** Runs a round of each scenario in turn: the same processes serve all kinds of load until the end. */
export async function runMixed(
  scenarios: readonly Scenario[],
  options: RoundOptions,
): Promise<Record<string, Rounds>> {
  const runs: ScenarioRun[] = []
  for (const scenario of scenarios) runs.push(await ScenarioRun.warmUp(scenario, options))
  for (let round = 0; round < options.plan.rounds; round++) {
    for (const run of runs) await run.measureRound()
  }
  return Object.fromEntries(runs.map(({ scenario, rounds }) => [scenario.name, rounds]))
}

/** A scenario whose subjects have compiled their code. */
class ScenarioRun {
  readonly rounds: Record<string, Round[]> = {}
  readonly scenario: Scenario
  readonly #options: RoundOptions
  readonly #rows: readonly Row[]
  /** Requests a second in a scenario at half load. */
  readonly #rate: number | undefined
  #parts = 0

  private constructor(
    scenario: Scenario,
    { options, rows, rates }: { options: RoundOptions; rows: readonly Row[]; rates: number[] },
  ) {
    this.scenario = scenario
    this.#options = options
    this.#rows = rows
    this.#rate = scenario.isHalfLoad ? Math.min(...rates) / 2 : undefined
  }

  static async warmUp(scenario: Scenario, options: RoundOptions): Promise<ScenarioRun> {
    const { field, load, plan } = options
    const rows = listRows(scenario, field.subjects)
    const rates: number[] = []
    for (const row of rows) {
      const job = describeJob(row, scenario, field)
      const milliseconds = plan.warmUpMs * (scenario.warmUps ?? 1)
      const { requests, seconds } = await ask(load, { ...job, milliseconds })
      rates.push(requests / seconds)
    }
    return new ScenarioRun(scenario, { options, rows, rates })
  }

  /** Measures every row once, or once for each part, in an order that alternates. */
  async measureRound(): Promise<void> {
    const { parts = 1 } = this.scenario
    for (let part = 0; part < parts; part++) {
      const order = this.#parts++ % 2 === 0 ? this.#rows : this.#rows.toReversed()
      for (const row of order) await this.#measure(row, parts)
    }
  }

  async #measure(row: Row, parts: number): Promise<void> {
    const { field, load, plan } = this.#options
    const job = describeJob(row, this.scenario, field)
    const milliseconds = plan.roundMs / parts
    const sample = await ask(load, { ...job, milliseconds, rate: this.#rate })
    const done = (this.rounds[row.name] ??= [])
    done.push({ ...sample, megabytes: familyMegabytes(row.subject) })
  }
}

/** How long the first requests after a start may take, in milliseconds. */
const maxColdTime = 60_000

/** Measures the first requests to processes that have just started, without a warm-up. */
export async function runCold(
  scenario: Scenario,
  { upstream, load, starts }: { upstream: Subject; load: ChildProcess; starts: number },
): Promise<Rounds> {
  const { firstRequests: requests } = scenario
  const rounds: Record<string, Round[]> = {}
  for (let round = 0; round < starts; round++) {
    for (const start of [startBaseline, startPlain]) {
      const subject = await start(upstream.port)
      const milliseconds = maxColdTime
      const sample = await measureOnce(scenario, {
        subject,
        upstream,
        load,
        milliseconds,
        requests,
      })
      const done = (rounds[subject.name] ??= [])
      done.push({ ...sample, megabytes: familyMegabytes(subject) })
      process.kill(subject.pid)
    }
  }
  return rounds
}

/** Sends requests of a scenario that has one request for all subjects to one of them. */
export async function measureOnce(
  scenario: Scenario,
  options: {
    subject: Subject
    upstream: Subject
    load: ChildProcess
    milliseconds: number
    requests?: number | undefined
  },
): Promise<Sample> {
  const { asked } = scenario
  const { subject, upstream, load, milliseconds, requests } = options
  if (!('path' in asked)) throw new Error('a scenario of several requests')
  const row = { name: subject.name, subject, ...asked }
  const job = describeJob(row, scenario, { upstreamPid: upstream.pid })
  return ask(load, { ...job, milliseconds, requests })
}

function describeJob(
  { subject, path, body, frames }: Row,
  { connections }: Scenario,
  { upstreamPid }: Pick<Field, 'upstreamPid'>,
): Omit<Job, 'milliseconds'> {
  const { port, headers, pid } = subject
  const proxyPids = listFamily(pid)
  return { path, body, frames, port, headers, proxyPids, connections, upstreamPid }
}

/** Returns the resident memory of all processes of a subject. */
export function familyMegabytes({ pid }: Subject): number {
  return listFamily(pid).reduce((sum, each) => sum + residentMegabytes(each), 0)
}

function listRows({ asked, subjects: wanted }: Scenario, subjects: readonly Subject[]): Row[] {
  if ('path' in asked) {
    const isMeasured = ({ name }: Subject) =>
      wanted?.includes(name) ?? !extraSubjects.includes(name)
    return subjects.filter(isMeasured).map((subject) => ({ name: subject.name, subject, ...asked }))
  }
  const gateway = subjects.find(({ name }) => name === 'gateway')
  return gateway ? asked.map((row) => ({ subject: gateway, ...row })) : []
}

async function ask(load: ChildProcess, job: Job): Promise<Sample> {
  load.send(job)
  const signal = AbortSignal.timeout(job.milliseconds + 15_000)
  // The load generator's only message is the sample of the job it was given.
  const [sample] = (await once(load, 'message', { signal })) as [Sample]
  return sample
}
