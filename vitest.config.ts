import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/**
 * Slow by nature: a browser, the clients of vendors, killed processes, crowds of requests, long random
 * searches, and a time limit of half a minute. Only `npm run test:all` runs them.
 */
const slow = [
  'test/accounting/{conservation,killed-processes}.test.ts',
  'test/node/console/browser*.test.ts',
  'test/node/{auth,master-key,store}-kill.test.ts',
  'test/node/{crowds,hostile-bodies,stop-limit}.test.ts',
  'test/providers/round-trip/**/*.test.ts',
  'test/routing/switches.model.test.ts',
  'test/sdk/**/*.test.ts',
]

/** They replace a module, or measure the memory of their process: each has a process of its own. */
const alone = [
  'test/auth/key-ring.test.ts',
  'test/config/any-text.test.ts',
  'test/node/large-bodies.test.ts',
  'test/node/reload-triggers.test.ts',
]

/**
 * They open sockets, start processes, run the documentation, search at random, or have many cases, and take about a
 * second or more. The others stay below half a minute together.
 */
const system = [
  'test/{conformance,docs,fuzz,growth,node}/**/*.test.ts',
  'test/admin/{keys-input,usage,usage-export}.test.ts',
  'test/api/{account-refusals,budget-periods,budgets,cache-model,cache-reservations}.test.ts',
  'test/api/{explain-agreement,failed-answer-charges,hidden-errors,keys,large-bodies}.test.ts',
  'test/api/{large-requests,logging,malformed,parallel,refusal-reasons,reservations}.test.ts',
  'test/api/{single-flight-model,stream-end,stream-replay,stream-usage,team-races}.test.ts',
  'test/api/{traces-ends,upstream-errors,usage,verbatim}.test.ts',
  'test/doors/{client-paths,proofs,reasoning-returns}.test.ts',
  'test/routing/switches.test.ts',
  'test/doors/{chat,completions,messages,responses}/match.test.ts',
  'test/doors/{chat/forms,messages/stream-writer,responses/stream}.test.ts',
  'test/pricing/price-table.test.ts',
  'test/providers/{repeated-events,anthropic/stream-cuts,translation/table}.test.ts',
  'test/providers/{anthropic/messages,base/rerank-fixtures,bedrock/request}.test.ts',
  'test/providers/{claude/thinking-blocks,cohere/fixtures,demo/demo}.test.ts',
  'test/providers/google/{lost-schemas,reasoning,request,schema}.test.ts',
  'test/providers/vendors/openai-compatible.test.ts',
  'test/resilience/{breaker,cannot-express,chain,faults,parking}.test.ts',
  'test/routing/order.test.ts',
  'test/store/{money,shares,spend-of-rows,terms}.test.ts',
  'test/wire/{aws-event-stream,sse,json/body}.test.ts',
]

/** More than the cores, since these tests wait half of their time for sockets and processes. */
const waitingWorkers = Math.ceil(availableParallelism() * 1.5)

/** In the order in which they run; files of one group share processes, and with them the loaded modules. */
const groups = [
  { name: 'fast', include: ['test/**/*.test.ts'], exclude: [...slow, ...alone, ...system] },
  { name: 'system', include: system, exclude: [...slow, ...alone], maxWorkers: waitingWorkers },
  { name: 'alone', include: alone, isolate: true },
  { name: 'slow', include: slow },
]

export default defineConfig({
  resolve: {
    // The examples of the documentation import the package by its name.
    alias: [
      { find: 'model-gateway/node', replacement: here('adapters/node/index.ts') },
      { find: 'model-gateway', replacement: here('src/index.ts') },
    ],
  },
  test: {
    pool: 'forks',
    maxWorkers: '100%',
    // Generous, since a busy machine is no fault: only what hangs runs into them.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    projects: groups.map((group, groupOrder) => ({
      extends: true as const,
      test: {
        isolate: false,
        ...(group.name !== 'fast' && { globalSetup: ['test/support/build.ts'] }),
        ...group,
        sequence: { groupOrder },
      },
    })),
  },
})
