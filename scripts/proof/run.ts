/**
 * Kills gateways, locks and fills their database, stops and empties their Redis server, and checks the
 * books against what 64 clients have seen. Prints the figures of each part, writes them to docs/proof.md,
 * and exits with 1 when one does not hold. A part that this machine cannot run is skipped, with a line that
 * says so.
 *
 *   npm run proof
 *   npm run proof -- kill locked
 *   npm run proof -- kill --rounds 200
 *   TEST_SEED=1 npm run proof
 */
import { parseArgs } from 'node:util'
import { buildBundle } from '../../bench/bundle.ts'
import { stopAll, stopAllAtExit } from '../../bench/processes.ts'
import { randomFrom } from '../../test/support/seeded-random.ts'
import { writeSection } from './page.ts'
import type { Outcome, Part } from './part.ts'
import { parts } from './parts/index.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '40' } },
})
const unknown = positionals.filter((name) => !parts.some((part) => part.name === name))
if (unknown.length > 0) {
  throw new Error(`unknown: ${unknown.join()}; there is ${parts.map(({ name }) => name).join()}`)
}
if (!buildBundle()) throw new Error('the build has failed')

const seed = Number(process.env['TEST_SEED'] ?? Date.now()) >>> 0
const random = randomFrom(seed)
const rounds = Number(values.rounds)
console.log(`TEST_SEED=${seed}`)

stopAllAtExit()
const chosen = parts.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
let broken = 0
for (const part of chosen) {
  const progress = (message: string) => console.error(`${part.name}: ${message}`)
  const outcome = await part.run({ random, rounds, progress })
  if ('figures' in outcome) writeSection(part, { figures: outcome.figures, seed, rounds })
  broken += print(part, outcome)
}
await stopAll()
process.exit(broken > 0 ? 1 : 0)

/** Prints the figures, and returns how many of them do not hold. */
function print({ name, title }: Part, outcome: Outcome): number {
  console.log(`\n${title}  [${name}]`)
  if ('skipped' in outcome) {
    console.log(`  SKIPPED: ${outcome.skipped}`)
    return 0
  }
  for (const { title: what, value, holds } of outcome.figures) {
    console.log(`  ${holds === false ? 'BROKEN  ' : ''}${what}: ${value}`)
  }
  return outcome.figures.filter(({ holds }) => holds === false).length
}
