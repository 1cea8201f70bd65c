import { type ChildProcess, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './measure.ts'
import { presentNode, type Runtime } from './processes.ts'
import { measureOnce } from './rounds.ts'
import { findScenario } from './scenarios.ts'
import { startBaseline, startPlain, startUpstream } from './subjects.ts'

/** The instructions of a request, all threads of the proxy, by scenario and subject. */
export type Instructions = Readonly<Record<string, Readonly<Record<string, number>>>>

/**
 * The scenarios whose instructions are counted, each with the requests that let V8 compile the code first. They are
 * a number rather than a time: other programs must not change how much of the code is compiled.
 */
export const countedScenarios = { json32: 10_000, stream: 1_000 } as const

export interface CountPlan {
  /** The share of those requests that is sent. */
  readonly warmUp: number
  /** How long one count takes. */
  readonly countMs: number
  /** The result is the median of so many counts. */
  readonly counts: number
}

/** True when Valgrind is installed. */
export function canCount(): boolean {
  try {
    execFileSync('valgrind', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * Counts the instructions of a request with Callgrind, which runs the code on a simulated processor. Other
 * programs do not change the count. It does not have the instructions of the kernel.
 */
export async function countInstructions({
  load,
  plan,
}: {
  load: ChildProcess
  plan: CountPlan
}): Promise<Instructions> {
  const upstream = await startUpstream('4')
  const folder = mkdtempSync(join(tmpdir(), 'gateway-instructions-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const counted: Record<string, Record<string, number>> = {}
  for (const [name, start] of Object.entries(starters)) {
    const output = join(folder, name)
    const subject = await start(upstream.port, callgrind(output))
    const count = makeCounter(subject.pid, output)
    for (const [scenario, warmUps] of Object.entries(countedScenarios)) {
      const send = (milliseconds: number) =>
        measureOnce(findScenario(scenario), { subject, upstream, load, milliseconds })
      for (let sent = 0; sent < warmUps * plan.warmUp; ) sent += (await send(1_000)).requests
      const counts: number[] = []
      for (let at = 0; at < plan.counts; at++) {
        counts.push(await count(async () => (await send(plan.countMs)).requests))
      }
      ;(counted[scenario] ??= {})[name] = median(counts)
    }
  }
  return counted
}

const starters = { baseline: startBaseline, gateway: startPlain }

/** Node on the simulated processor, with the counter off. `output`: the beginning of its files. */
function callgrind(output: string): Runtime {
  return [
    'valgrind',
    '--quiet',
    '--tool=callgrind',
    '--instr-atstart=no',
    `--callgrind-out-file=${output}`,
    // Without it, Valgrind runs old code where V8 has written new one.
    '--smc-check=all-non-file',
    ...presentNode,
    // Helper threads of V8 compile and collect at times that differ from run to run.
    '--single-threaded',
  ]
}

/** Returns a function that counts the instructions of a process meanwhile, for each of the requests. */
function makeCounter(pid: number, output: string) {
  let dumps = 0
  const control = (order: string) =>
    execFileSync('callgrind_control', [order, String(pid)], { stdio: 'ignore' })
  return async (send: () => Promise<number>): Promise<number> => {
    control('--instr=on')
    const requests = await send()
    control('--instr=off')
    control('--dump')
    dumps++
    const [, total] = /^totals: (\d+)/m.exec(readFileSync(`${output}.${dumps}`, 'latin1')) ?? []
    return Number(total) / requests
  }
}
