/**
 * `npm run bench:workers`: the rate of one process and of several workers, with requests of 100 kB to the
 * built-in demo provider, so that the gateway does nearly all of the work. Rounds alternate.
 * `--workers 4` for another number, `--seconds 5` for longer rounds.
 *
 * Other programs on the same cores lower the rates, and may lower one more than the other. The processor time
 * of a request shows what they cannot change: whether the workers get in each other's way.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildBundle, bundlePath } from './bundle.ts'
import type { Job, Sample } from './load.ts'
import { cpuMillis, median } from './measure.ts'
import {
  freePort,
  getPid,
  isHealthy,
  nextMessage,
  startNode,
  startScript,
  stopAll,
  stopAllAtExit,
  waitUntil,
} from './processes.ts'

/** The message to a parent process, at the end. */
export interface WorkerFigures {
  /** The rate of the workers over that of one process. */
  readonly factor: number
}

interface Subject {
  readonly port: number
  readonly primary: ChildProcess
  readonly rounds: Round[]
}

interface Round {
  /** Requests a second. */
  readonly rate: number
  /** Processor time of a request in all processes of the gateway, in milliseconds. */
  readonly cost: number
  /** The part of the first process in that time. */
  readonly primary: number
  /** Cores that the gateway kept busy. */
  readonly cores: number
}

const { values: options } = parseArgs({
  options: {
    workers: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
  },
})
const connections = 16

const body = JSON.stringify({
  model: 'demo',
  messages: Array.from({ length: 100 }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: `Turn ${turn}. ${'The quick brown fox jumps over the lazy dog. '.repeat(22)}`,
  })),
})

stopAllAtExit()
if (!buildBundle()) throw new Error('the build has failed')
const load = startScript('load')
const one = await startGateway(1)
const several = await startGateway(Number(options.workers))
// Warm code, in every worker.
for (const subject of [one, several]) await measure(subject)
for (let round = 0; round < Number(options.rounds); round++) {
  for (const subject of [one, several]) subject.rounds.push(await measure(subject))
}
report('1 process', one)
report(`${options.workers} workers`, several)
const ratios = several.rounds.map(({ rate }, at) => rate / (one.rounds[at]?.rate ?? Number.NaN))
const gain: WorkerFigures = { factor: median(ratios) }
console.log(`rate of ${options.workers} workers over 1 process: ${gain.factor.toFixed(2)} x`)
process.send?.(gain)
await stopAll()

async function startGateway(workers: number): Promise<Subject> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const config = `
log_format = "json"
[server]
port = ${port}
workers = ${workers}
[[providers]]
name = "demo"
kind = "demo"
models = [{ id = "demo" }]
`
  writeFileSync(join(folder, 'config.toml'), config)
  const primary = startNode([bundlePath, '--config', join(folder, 'config.toml')], {
    cwd: folder,
    env: { PATH: process.env['PATH'] },
  })
  await waitUntil(() => isHealthy(port), primary)
  await waitUntil(async () => workers === 1 || listWorkers(primary).length === workers, primary)
  return { port, primary, rounds: [] }
}

async function measure({ port, primary }: Subject): Promise<Round> {
  const pid = getPid(primary)
  const milliseconds = Number(options.seconds) * 1_000
  const path = '/v1/chat/completions'
  const headers = { 'content-type': 'application/json' }
  const job: Job = {
    port,
    path,
    headers,
    body,
    connections,
    milliseconds,
    frames: 0,
    proxyPids: [pid],
    upstreamPid: pid,
  }
  const before = readCpu(primary)
  load.send(job)
  // The load generator answers each job with a sample.
  const { requests, errors, seconds } = (await nextMessage(load)) as Sample
  if (errors > 0) throw new Error(`${errors} requests failed`)
  const after = readCpu(primary)
  const total = after.all - before.all
  return {
    rate: requests / seconds,
    cost: total / requests,
    primary: (after.primary - before.primary) / total,
    cores: total / 1_000 / seconds,
  }
}

function readCpu(primary: ChildProcess) {
  const own = cpuMillis(getPid(primary))
  return { primary: own, all: listWorkers(primary).reduce((sum, pid) => sum + cpuMillis(pid), own) }
}

function listWorkers(primary: ChildProcess): readonly number[] {
  const pid = getPid(primary)
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
  return children.split(' ').filter(Boolean).map(Number)
}

function report(title: string, { rounds }: Subject): void {
  const middle = (figure: keyof Round) => median(rounds.map((round) => round[figure]))
  const figures = [
    `${middle('rate').toFixed(0)} requests/s`,
    `${middle('cost').toFixed(2)} ms of processor time each`,
    `${middle('cores').toFixed(2)} cores busy`,
    `${(middle('primary') * 100).toFixed(0)} % in the first process`,
  ]
  console.log(`${title.padEnd(10)} ${figures.join(', ')}`)
}
