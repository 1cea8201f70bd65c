import { expect, test } from 'vitest'
import { formatPaths } from '../../src/data-plane/request/dropped-header.ts'

test('paths are joined by commas, each once', () => {
  expect(formatPaths(['a', 'b.0.c', 'a'])).toBe('a,b.0.c')
})

test('a path keeps no comma and no character that a header cannot have', () => {
  expect(formatPaths(['a,b', 'c\r\nd', 'ñ\u{1f600}'])).toBe('a?b,c??d,??')
})

test('paths that do not fit are left out whole', () => {
  const text = formatPaths(Array.from({ length: 500 }, (_, at) => `tools.${at}`))
  expect(text.length).toBeLessThanOrEqual(1024)
  expect(text).toMatch(/,tools\.\d+$/)
})
