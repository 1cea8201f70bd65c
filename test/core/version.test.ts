import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { version } from '../../src/index.ts'

test('the version in the source is that of the package', () => {
  expect(version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version)
})
