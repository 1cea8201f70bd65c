import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Job, Sample } from './load.ts'
import { residentMegabytes } from './measure.ts'
import type { Scenario } from './scenarios.ts'
import type { Field, Subject, SubjectName } from './subjects.ts'

/** How long to measure. */
export interface Plan {
  readonly rounds: number
  readonly roundMs: number
  readonly warmUpMs: number
}

export interface Round extends Sample {
  /** Resident memory of the proxy after the round. */
  readonly megabytes: number
}

/** What one scenario gave: for each subject its rounds, in the order they were run. */
export type Rounds = Readonly<Partial<Record<SubjectName, readonly Round[]>>>

/**
 * Runs the scenario against all subjects in turn, in short rounds, back and forth: what else the
 * machine does meanwhile falls on all of them, and figures of one round may be compared.
 */
export async function runScenario(
  scenario: Scenario,
  { field, load, plan }: { field: Field; load: ChildProcess; plan: Plan },
): Promise<Rounds> {
  const measure = (subject: Subject, milliseconds: number) =>
    ask(load, {
      ...scenario,
      port: subject.port,
      headers: subject.headers,
      proxyPid: subject.pid,
      upstreamPid: field.upstreamPid,
      milliseconds,
    })
  for (const subject of field.subjects) await measure(subject, plan.warmUpMs)
  const rounds: Partial<Record<SubjectName, Round[]>> = {}
  for (let round = 0; round < plan.rounds; round++) {
    const order = round % 2 === 0 ? field.subjects : field.subjects.toReversed()
    for (const subject of order) {
      const sample = await measure(subject, plan.roundMs)
      const megabytes = residentMegabytes(subject.pid)
      const done = (rounds[subject.name] ??= [])
      done.push({ ...sample, megabytes })
    }
  }
  return rounds
}

async function ask(load: ChildProcess, job: Job): Promise<Sample> {
  load.send(job)
  const signal = AbortSignal.timeout(job.milliseconds + 15_000)
  // The load generator's only message is the sample of the job it was given.
  const [sample] = (await once(load, 'message', { signal })) as [Sample]
  return sample
}
