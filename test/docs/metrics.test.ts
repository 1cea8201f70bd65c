import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { seriesTable } from '../../src/metrics/table.ts'

interface Row {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
}

const documented: readonly Row[] = Array.from(
  readFileSync('docs/operations.md', 'utf8').matchAll(
    /^\| `(gateway_\w+)` \| (\w+) \|([^|]*)\| .+ \|$/gm,
  ),
  ([, name = '', type = '', labels = '']) => ({
    name,
    type,
    labels: Array.from(labels.matchAll(/`(\w+)`/g), ([, label = '']) => label),
  }),
)

test('docs/operations.md lists every series once, with its type and its labels', () => {
  const specs = Object.values(seriesTable).map((spec) => ({
    name: spec.name,
    type: spec.type,
    labels: 'labelNames' in spec ? [...spec.labelNames] : [],
  }))
  const byName = (a: Row, b: Row) => a.name.localeCompare(b.name)
  expect(documented.toSorted(byName)).toEqual(specs.toSorted(byName))
})
