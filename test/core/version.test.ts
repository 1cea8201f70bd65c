import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { version } from '../../src/index.ts'

test('the version in the source equals that of package.json', () => {
  expect(version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version)
})
