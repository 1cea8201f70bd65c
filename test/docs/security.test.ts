import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operations } from '../../scripts/openapi/document.ts'

test('docs/security.md lists exactly the routes that need no key', () => {
  const page = readFileSync('docs/security.md', 'utf8')
  const [, section = ''] = page.split('\n## What is open without a key\n')
  const rows = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('|'))
  const listed = [...rows.join('').matchAll(/`(GET \/\S*)`/g)].map(([, route]) => route)
  // The tests of openapi.json send each request without its key.
  const open = Object.entries(operations).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.key === 'none')
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
  expect(listed.toSorted()).toEqual(open.toSorted())
})
