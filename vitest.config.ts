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
    testTimeout: 20_000,
    // Some tests measure time, and the machine of a CI run has neighbours. Retries are reported.
    retry: process.env['CI'] ? 2 : 0,
  },
})
