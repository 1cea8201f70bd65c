/**
 * `npm run soak:reload`: thirty seconds of requests, streams and not, while the configuration is
 * replaced every 100 ms: over the admin API, by a rename, in place with SIGHUP, by a provider key, and
 * by invalid files. No request may fail or see two configurations, the sums must match, and
 * nothing may leak: no request, socket, watch, timer or memory. Exits with 1 otherwise.
 *
 * `--seconds 300` for a longer run.
 */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { getHeapCodeStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { reloadLoad } from './reload-load.ts'

const { values: options } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } })
const seconds = Number(options.seconds)
const warmUp = 10
/** Maximum growth of the heap, relative to its size after the warm-up. */
const allowedGrowth = 0.05

setFlagsFromString('--expose_gc')
const collectGarbage: () => void = runInNewContext('gc')

const load = await reloadLoad({ connections: 32, pause: 100 })
await load.run(warmUp * 1_000)
const before = await heapUsed()
await load.run(seconds * 1_000)
const after = await heapUsed()
const faults = [...(await load.finish())]
await turn()
await turn()
const left = process
  .getActiveResourcesInfo()
  .filter((resource) => /Timeout|FSEvent|TCP|Worker|MessagePort/.test(resource))
if (left.length > 0) faults.push(`left: ${left}`)
const growth = after / before - 1
if (growth > allowedGrowth) faults.push('the heap has grown')

console.log(`requests   ${JSON.stringify(load.counts)}`)
console.log(
  `heap       ${megabytes(before)} to ${megabytes(after)} MB (${(growth * 100).toFixed(1)} %)`,
)
console.log(`faults     ${faults.length}`)
for (const [fault, times] of tally(faults)) console.log(`  ${times} x ${fault}`)
process.exitCode = faults.length === 0 ? 0 : 1

/** Excludes compiled code: V8 keeps compiling for minutes, which is not a leak. */
async function heapUsed(): Promise<number> {
  await sleep(500)
  for (let round = 0; round < 3; round++) {
    collectGarbage()
    await sleep(20)
  }
  const code = getHeapCodeStatistics()
  return (
    process.memoryUsage().heapUsed - code.code_and_metadata_size - code.bytecode_and_metadata_size
  )
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1)
}

function tally(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}
