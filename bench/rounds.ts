import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Job, Sample } from './load.ts'
import { listFamily, residentMegabytes } from './measure.ts'
import type { Asked, Scenario } from './scenarios.ts'
import { extraSubjects, type Field, type Subject } from './subjects.ts'

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

/**
 * Runs the scenario against all subjects in turn, in short alternating rounds: other load on the
 * machine affects all of them, so the figures of one round are comparable. Shared
 * machines change their speed within fractions of a second, so there are many short rounds.
 */
export async function runScenario(
  scenario: Scenario,
  { field, load, plan }: { field: Field; load: ChildProcess; plan: Plan },
): Promise<Rounds> {
  const { connections } = scenario
  const { upstreamPid } = field
  const measure = (row: Row, milliseconds: number, rate?: number) =>
    ask(load, { ...describeJob(row), connections, upstreamPid, milliseconds, rate })
  const rows = listRows(scenario, field.subjects)
  const { parts = 1 } = scenario
  const warmUpMs = plan.warmUpMs * (scenario.warmUps ?? 1)
  const rates: number[] = []
  for (const row of rows) {
    const { requests, seconds } = await measure(row, warmUpMs)
    rates.push(requests / seconds)
  }
  const rate = scenario.isHalfLoad ? Math.min(...rates) / 2 : undefined
  const rounds: Record<string, Round[]> = {}
  for (let round = 0; round < plan.rounds * parts; round++) {
    const order = round % 2 === 0 ? rows : rows.toReversed()
    for (const row of order) {
      const sample = await measure(row, plan.roundMs / parts, rate)
      const done = (rounds[row.name] ??= [])
      done.push({ ...sample, megabytes: familyMegabytes(row.subject) })
    }
  }
  return rounds
}

/** Sends requests of a scenario that has one request for all subjects to one of them. */
export async function measureOnce(
  { connections, asked }: Scenario,
  options: { subject: Subject; upstream: Subject; load: ChildProcess; milliseconds: number },
): Promise<Sample> {
  const { subject, upstream, load, milliseconds } = options
  if (!('path' in asked)) throw new Error('a scenario of several requests')
  const row = { name: subject.name, subject, ...asked }
  return ask(load, {
    ...describeJob(row),
    connections,
    upstreamPid: upstream.pid,
    milliseconds,
  })
}

function describeJob({ subject, path, body, frames }: Row) {
  const { port, headers, pid } = subject
  return { path, body, frames, port, headers, proxyPids: listFamily(pid) }
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
