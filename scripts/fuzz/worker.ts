import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { toBytes } from '../../test/fuzz/target.ts'
import { targets } from '../../test/fuzz/targets/index.ts'
import { Coverage } from './coverage.ts'
import { createRandom, mutate } from './mutate.ts'
import type { FuzzJob, FuzzReport } from './run.ts'
import { shrink } from './shrink.ts'

/*
 * The loop of one target: changes an input of the corpus, checks it, and keeps it when it reached new code.
 */

const { name, seconds, seed, corpusFolder, current } = workerData as FuzzJob
const target = targets[name]
if (!target) throw new Error(`no target ${name}`)

const maxBytes = 4096
/** The number of executions that share a profile. */
const batchSize = 64
const deadline = Date.now() + seconds * 1000
const random = createRandom(seed)
const coverage = new Coverage()
const words = target.words.map(toBytes)
const corpus: Uint8Array[] = []
let executions = 0
let failure: FuzzReport['failure']

mkdirSync(corpusFolder, { recursive: true })
const kept = readdirSync(corpusFolder).map((file) => readFileSync(join(corpusFolder, file)))
for (const input of [new Uint8Array(0), ...target.seeds.map(toBytes), ...kept]) {
  await run(Uint8Array.from(input))
  coverage.add(coverage.take())
  corpus.push(Uint8Array.from(input))
}
while (!failure && Date.now() < deadline) {
  const batch = Array.from({ length: batchSize }, () => mutate({ corpus, words, maxBytes }, random))
  for (const input of batch) await run(input)
  const profile = coverage.take()
  if (!coverage.reachesNew(profile)) continue
  for (const input of batch) {
    await run(input)
    if (coverage.add(coverage.take())) keep(input)
  }
  // Code that runs only once, such as the filling of a table, must not stay new.
  coverage.add(profile)
}
const report: FuzzReport = {
  executions,
  corpus: corpus.length,
  characters: coverage.characters,
  failure,
}
parentPort?.postMessage(report)

function keep(input: Uint8Array): void {
  corpus.push(input)
  const hash = createHash('sha256').update(input).digest('hex').slice(0, 16)
  writeFileSync(join(corpusFolder, hash), input)
}

async function run(input: Uint8Array): Promise<void> {
  executions++
  // The watchdog reads the input that takes too long.
  const view = new DataView(current)
  new Uint8Array(current, 8).set(input.subarray(0, current.byteLength - 8))
  view.setUint32(4, input.length)
  view.setUint32(0, executions)
  const message = await findFailure(input)
  if (message === undefined || failure) return
  const small = await shrink(input, async (smaller) => (await findFailure(smaller)) !== undefined)
  failure = { input: small, message: (await findFailure(small)) ?? message }
}

async function findFailure(input: Uint8Array): Promise<string | undefined> {
  try {
    await target?.check(Uint8Array.from(input))
    return undefined
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}
