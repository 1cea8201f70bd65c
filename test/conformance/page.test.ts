import { expect, test } from 'vitest'
import { listRowKeys, mergeTables } from '../../scripts/conformance/page.ts'

const table = (...rows: readonly string[]) =>
  ['| Client | API | A |', '| --- | --- | --- |', ...rows].join('\n')
const clients = ['One | Chat', 'Two, `x` | Messages', 'One | Responses']

test('rows of a run take the places of earlier ones, in the order of the clients', () => {
  const earlier = `## Title\n\n${table('| One 1.0.0 | Chat | ✓ 1 |', '| One 1.0.0 | Responses | ✗ |')}\n`
  const later = table('| Two, `x` 2.0 | Messages | ✓ 2 |', '| One 1.0.1 | Responses | ✓ 3 |')
  expect(mergeTables(earlier, later, clients)).toBe(
    table(
      '| One 1.0.0 | Chat | ✓ 1 |',
      '| Two, `x` 2.0 | Messages | ✓ 2 |',
      '| One 1.0.1 | Responses | ✓ 3 |',
    ),
  )
})

test('rows of a client that is no more are left out, and other columns are refused', () => {
  expect(mergeTables(table('| Gone 1.0 | Chat | ✓ 1 |'), table(), clients)).toBe(table())
  expect(() => mergeTables(table().replace('A', 'B'), table(), clients)).toThrow('run all clients')
})

test('the first rows of a table have no places to take', () => {
  const first = table('| One 1.0 | Chat | ✓ 1 |', '| Two, `x` 2.0 | Messages | ✓ 2 |')
  expect(mergeTables('', first, clients)).toBe(first)
  expect(listRowKeys(first)).toEqual(['One | Chat', 'Two, `x` | Messages'])
})
