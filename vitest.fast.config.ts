import { defineConfig, mergeConfig } from 'vitest/config'
import config from './vitest.config.ts'

/** Most tests in half a minute: without processes, documentation and long random searches. */
export default mergeConfig(
  config,
  defineConfig({
    test: {
      pool: 'forks',
      isolate: false,
      maxWorkers: '100%',
      exclude: [
        'test/{docs,fuzz,growth,node,sdk}/**',
        'test/accounting/conservation.test.ts',
        'test/api/{reservations,stream-replay}.test.ts',
        // It spies on a module, for which it needs a process of its own.
        'test/auth/key-ring.test.ts',
        'test/providers/anthropic/fixtures.test.ts',
        'test/providers/round-trip/**',
        'test/resilience/{cannot-express,faults}.test.ts',
        'test/wire/json-body.test.ts',
      ],
    },
  }),
)
