/**
 * `npm run bench:scale`: what one process, one machine and several machines carry, computed from figures that
 * are measured here. Writes the tables into docs/scale.md; `--dry` prints them instead. Takes about three
 * minutes on a quiet machine.
 */
import { parseArgs } from 'node:util'
import { readMachine } from '../machine.ts'
import { median } from '../measure.ts'
import { replaceFigures } from '../page.ts'
import { nextMessage, startScript, stopAll, stopAllAtExit } from '../processes.ts'
import { type Rounds, runScenario } from '../rounds.ts'
import { findScenario, keyedScenario, pacedScenario, streamedFrames } from '../scenarios.ts'
import { startAll } from '../subjects.ts'
import type { UsageFigures } from '../usage.ts'
import type { WorkerFigures } from '../workers.ts'
import { measureKeys } from './keys.ts'
import { type Figures, renderPage } from './page.ts'
import { measureSharedKeys, readTimePerRequest } from './shared.ts'
import { measureOpenStreams } from './streams.ts'

const { values: options } = parseArgs({ options: { dry: { type: 'boolean', default: false } } })

stopAllAtExit()
const page = renderPage(await measure(), readMachine())
await stopAll()
if (options.dry) console.log(page)
else replaceFigures('docs/scale.md', page)

async function measure(): Promise<Figures> {
  const costs = await measureCosts()
  progress('open streams')
  const streams = await measureOpenStreams(2_000)
  progress('keys')
  const keys = await measureKeys(100_000)
  progress('the usage log')
  // The only message of each script.
  const usage = (await nextMessage(
    startScript('usage', ['--days', '30', '--runs', '3']),
  )) as UsageFigures
  progress('workers')
  const workers = (await nextMessage(startScript('workers'))) as WorkerFigures
  return { ...costs, streams, keys, usage, workers }
}

/** Measures the processor time of requests. It depends on other load much less than rates do. */
async function measureCosts(): Promise<Pick<Figures, 'json' | 'keyed' | 'frame' | 'shared'>> {
  const field = await startAll({
    group: '4',
    gatewayStarts: 1,
    withKeyed: true,
    withSharing: true,
    withCached: false,
  })
  const load = startScript('load')
  const plan = { rounds: 15, roundMs: 300, warmUpMs: 4_000 }
  const run = (name: string): Promise<Rounds> => {
    progress(name)
    return runScenario(findScenario(name), { field, load, plan })
  }
  const small = await run(keyedScenario)
  const paced = await run(pacedScenario)
  const { redisPort } = field
  if (redisPort === undefined) throw new Error('the gateway cannot be built')
  const sharing = await run('shared32')
  const { port } = field.subjects.find(({ name }) => name === 'sharing') ?? { port: 0 }
  progress('keys on the server')
  const shared = {
    gateway: cpuMicros(sharing, 'sharing'),
    server: readTimePerRequest(redisPort),
    bytesPerKey: await measureSharedKeys({ port, redisPort }, 1_000),
  }
  await stopAll()
  return {
    json: cpuMicros(small, 'gateway'),
    keyed: cpuMicros(small, 'keyed'),
    frame: cpuMicros(paced, 'gateway') / streamedFrames,
    shared,
  }
}

/** The processor time of the proxy for each request, in microseconds, all threads. */
function cpuMicros(rounds: Rounds, subject: string): number {
  return median((rounds[subject] ?? []).map(({ cpu, requests }) => (cpu.proxy / requests) * 1_000))
}

function progress(message: string): void {
  console.error(`scale: ${message}`)
}
