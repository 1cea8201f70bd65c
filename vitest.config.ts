import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  resolve: {
    // The examples of the documentation import the package by its name.
    alias: [
      { find: 'model-gateway/node', replacement: here('adapters/node/index.ts') },
      { find: 'model-gateway', replacement: here('src/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // Generous, since a busy machine is no fault: only what hangs runs into them.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
  },
})
