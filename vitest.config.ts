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
  'test/admin/{keys-input,usage,usage-cost,usage-export,usage-reprice}.test.ts',
  'test/api/{account-refusals,addresses,billing-facts,body-overrides,budget-periods,budgets}.test.ts',
  'test/api/{cache-marks,cache-model,cache-reservations,decisions,embeddings-answers}.test.ts',
  'test/api/{errors-beside-content,explain-agreement,failed-answer-charges,failed-finish}.test.ts',
  'test/api/{embeddings-images,hidden-errors,images,keys,large-bodies,large-requests}.test.ts',
  'test/api/{listed-answers,logging,model-access,requests,request-refusals}.test.ts',
  'test/api/{malformed,parallel,patterns,refusal-reasons,reservations,status}.test.ts',
  'test/api/{single-flight-model,stream-end,stream-replay,stream-usage,team-races}.test.ts',
  'test/api/{traces-ends,unpriced,upstream-errors,usage,usage-judged,verbatim}.test.ts',
  'test/api/{webhooks,webhooks-receiver}.test.ts',
  'test/config/json-schema.test.ts',
  'test/data-plane/embed-match.test.ts',
  'test/doors/{client-paths,plain-reasoning,proofs,reasoning-returns}.test.ts',
  'test/doors/{thinking-wish,whole-characters}.test.ts',
  'test/doors/{chat,completions,gemini,messages,responses}/match.test.ts',
  'test/doors/{chat/forms,completions/answer,completions/reservation}.test.ts',
  'test/doors/gemini/{clients,native,request}.test.ts',
  'test/doors/messages/{budget,provider-content,stream-writer}.test.ts',
  'test/doors/responses/stream.test.ts',
  'test/pricing/price-table.test.ts',
  'test/providers/{contract,provider-content,repeated-events,translation/table}.test.ts',
  'test/providers/anthropic/{messages,request,stream-cuts}.test.ts',
  'test/providers/{anthropic,bedrock,cohere,google}/fixtures.test.ts',
  'test/providers/profiles/requests.test.ts',
  'test/providers/{base/embed-fixtures,base/rerank-fixtures,bedrock/request}.test.ts',
  'test/providers/{claude/thinking-blocks,demo/demo,vertex/kind}.test.ts',
  'test/providers/google/{lost-schemas,reasoning,request,schema}.test.ts',
  'test/providers/vendors/{azure,openai-compatible}.test.ts',
  'test/resilience/{breaker,cannot-express,chain,credentials}.test.ts',
  'test/resilience/{faults,parking,windows}.test.ts',
  'test/rooms/{fairness,histories}.test.ts',
  'test/routing/{affinity,order,strategies,switches,weighted}.test.ts',
  'test/store/{money,shares,spend-of-rows,terms,usage}.test.ts',
  'test/wire/{aws-event-stream,sse,json/body,json/canonical,json/vector-scanner}.test.ts',
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
