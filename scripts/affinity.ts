import { type AgentsOptions, type AgentsResult, simulateAgents } from '../test/support/agents.ts'

/*
 * Shows what affinity is worth: sessions of agents over targets that cache prompts, with failures and parked keys.
 * `npm run affinity`
 */

const fleet: AgentsOptions = {
  sessions: 50,
  turns: 30,
  targets: 4,
  keys: 3,
  affinity: 'true',
  namesSession: true,
  failures: 0.005,
  limits: 0.005,
  hasOutage: true,
  seed: 1,
}

const alone = await simulateAgents({
  ...fleet,
  targets: 1,
  keys: 1,
  failures: 0,
  limits: 0,
  hasOutage: false,
})
const runs: readonly (readonly [name: string, AgentsResult])[] = [
  ['one target and key, without failures', alone],
  ['affinity by session', await simulateAgents(fleet)],
  [
    'affinity by prefix, no session named',
    await simulateAgents({ ...fleet, affinity: '"prefix"', namesSession: false }),
  ],
  ['without affinity', await simulateAgents({ ...fleet, affinity: 'false' })],
]
const { sessions, turns, targets, keys } = fleet
process.stdout.write(
  `${sessions} sessions of ${turns} turns, ${targets} targets with ${keys} keys each; 0.5 % of calls are 503, 0.5 % park a key, and one target is away in a fifth of the run\n\n`,
)
for (const [name, result] of runs) process.stdout.write(`${describe(name, result)}\n`)
const [, [, pinned]] = runs as [unknown, (typeof runs)[number]]
process.exitCode = pinned.cachedShare >= 0.95 * alone.cachedShare ? 0 : 1

function describe(name: string, { cachedShare, load, served, failed }: AgentsResult): string {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  const counts = [...load.values()].sort((a, b) => a - b)
  const least = counts[0] ?? 0
  const most = counts.at(-1) ?? 0
  return [
    `${name.padEnd(38)} cached ${percent(cachedShare).padStart(7)}`,
    `${percent(cachedShare / alone.cachedShare).padStart(7)} of one target`,
    `${served} served, ${failed} failed`,
    `requests by key: ${least} to ${most} at ${counts.length} keys`,
  ].join('; ')
}
