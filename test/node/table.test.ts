import { expect, test } from 'vitest'
import { plain, type Style } from '../../adapters/node/output/style.ts'
import { renderTable, type TableText } from '../../adapters/node/output/table.ts'
import { cutText, measureText } from '../../adapters/node/output/width.ts'

const red = (text: string) => `\u001b[31m${text}\u001b[39m`

test.each([
  ['ascii', 5],
  ['検索', 4],
  ['한국어', 6],
  ['👍 ok', 5],
  ['e\u0301', 1],
  ['👩\u200d👩', 4],
  [red('painted'), 7],
])('%j takes %i cells', (text, width) => {
  expect(measureText(text)).toBe(width)
})

test.each([
  ['short', 5, 'short'],
  ['longer', 5, 'long…'],
  ['検索する', 6, '検索…'],
  ['検索する', 5, '検索…'],
  [red('painted'), 4, red('pai…')],
  [`${red('name')} 5f0c3a7e`, 6, `${red('name')} …`],
])('%j cut to %i cells is %j', (text, width, cut) => {
  expect(cutText(text, width)).toBe(cut)
  expect(measureText(cut)).toBeLessThanOrEqual(width)
})

const table: TableText = {
  columns: ['ID', 'NAME', '>COST', '', 'STATE'],
  rows: [
    [
      '5f0c3a7e',
      'a name of a team that is far too long for a narrow terminal',
      '$1,234.50',
      '███░░',
      'active',
    ],
    ['a3d9e012', 'ci', '$2.00', '█░░░░', 'until 2026-12-24'],
  ],
}

test('a table as wide as its texts has no cut cells', () => {
  const lines = renderTable(table, plain).split('\n')
  expect(lines[1]).toContain('too long for a narrow terminal')
  expect(renderTable({ ...table, width: Number.POSITIVE_INFINITY }, plain)).toBe(lines.join('\n'))
})

test.each([100, 72, 60, 50, 46])(
  'in %i columns no line is longer, and numbers stay whole',
  (width) => {
    const lines = renderTable({ ...table, width }, plain).split('\n')
    for (const line of lines) expect(measureText(line)).toBeLessThanOrEqual(width)
    expect(lines[1]).toContain('$1,234.50')
    expect(lines[1]).toContain('…')
  },
)

test('optional columns go before texts are hard to read', () => {
  const narrow = { ...table, optional: [3] }
  expect(renderTable({ ...narrow, width: 80 }, plain)).toContain('███░░')
  expect(renderTable({ ...narrow, width: 60 }, plain)).not.toContain('███░░')
})

test('colours end where a cell is cut', () => {
  const style: Style = { ...plain, dim: red }
  const text = renderTable(
    { columns: ['A', 'B'], rows: [[red('x'.repeat(40)), 'y']], width: 20 },
    style,
  )
  expect(text.split('\n')[1]).toBe(`${red(`${'x'.repeat(16)}…`)}  y`)
})
