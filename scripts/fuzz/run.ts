import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { targets } from '../../test/fuzz/targets/index.ts'

/*
 * Searches for inputs that break a rule of a parser, guided by the code that inputs reach:
 * `npm run fuzz -- [TARGET …] [--seconds 60] [--seed N]`, by default every target. A found input is
 * made as small as possible and written to test/fixtures/fuzz, where `npm test` checks it from then on.
 * The inputs that reached new code stay in ~/.cache/model-gateway/fuzz for the next run.
 */

export interface FuzzJob {
  readonly name: string
  readonly seconds: number
  readonly seed: number
  readonly corpusFolder: string
  /** The number of the running execution, the length of its input, and the input. */
  readonly current: SharedArrayBuffer
}

export interface FuzzReport {
  readonly executions: number
  /** The number of inputs that reached new code, and of seeds. */
  readonly corpus: number
  /** The amount of the product's code that ran, in characters. */
  readonly characters: number
  readonly failure: { readonly input: Uint8Array; readonly message: string } | undefined
}

/** An input that takes longer counts as found. */
const maxCheckMs = 10_000
/** An input that needs more memory counts as found. */
const maxHeapMb = 512

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
})
const names = positionals.length > 0 ? positionals : Object.keys(targets)
const unknown = names.filter((name) => !(name in targets))
if (unknown.length > 0) {
  throw new Error(
    `no target ${unknown.join(', ')}; the targets are ${Object.keys(targets).join(', ')}`,
  )
}
console.log(`seed ${values.seed}, ${values.seconds} s for each target`)
for (const name of names) {
  const { executions, corpus, characters, failure } = await fuzz(name)
  console.log(
    `${name.padEnd(18)} ${executions} executions, ${corpus} inputs, ${characters} characters of code`,
  )
  if (!failure) continue
  process.exitCode = 1
  console.log(`${save(name, failure.input)}\n${failure.message}`)
}

function fuzz(name: string): Promise<FuzzReport> {
  const current = new SharedArrayBuffer(64 * 1024)
  const job: FuzzJob = {
    name,
    seconds: Number(values.seconds),
    seed: Number(values.seed),
    corpusFolder: join(homedir(), '.cache', 'model-gateway', 'fuzz', name),
    current,
  }
  const worker = new Worker(new URL('from-source.mjs', import.meta.url), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  })
  return new Promise((resolve, reject) => {
    let last = 0
    const watchdog = setInterval(() => {
      const { executions, input } = readCurrent(current)
      if (executions > last || executions === 0) {
        last = executions
        return
      }
      end({ input, message: `this input takes longer than ${maxCheckMs} ms` })
    }, maxCheckMs)
    const end = (failure: FuzzReport['failure']) => {
      clearInterval(watchdog)
      void worker.terminate()
      resolve({ executions: readCurrent(current).executions, corpus: 0, characters: 0, failure })
    }
    worker.once('message', (report: FuzzReport) => {
      clearInterval(watchdog)
      resolve(report)
    })
    worker.once('error', (error) => {
      clearInterval(watchdog)
      const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      if (isMemory) end({ input: readCurrent(current).input, message: error.message })
      else reject(error)
    })
  })
}

function readCurrent(current: SharedArrayBuffer) {
  const view = new DataView(current)
  const length = Math.min(view.getUint32(4), current.byteLength - 8)
  return {
    executions: view.getUint32(0),
    input: Uint8Array.from(new Uint8Array(current, 8, length)),
  }
}

/** Writes a found input, and returns its path. */
function save(name: string, input: Uint8Array): string {
  const folder = new URL(`../../test/fixtures/fuzz/${name}/`, import.meta.url)
  mkdirSync(folder, { recursive: true })
  const hash = createHash('sha256').update(input).digest('hex').slice(0, 16)
  const file = new URL(hash, folder)
  writeFileSync(file, input)
  return fileURLToPath(file)
}
