import type { Style } from './style.ts'
import { cutText, measureText } from './width.ts'

export interface TableText {
  /** The title of each column. A title that begins with `>` aligns its column to the right. */
  readonly columns: readonly string[]
  /** The cells, which may be painted. */
  readonly rows: readonly (readonly string[])[]
  /** Columns of texts that are never cut. */
  readonly whole?: readonly number[]
  /** Columns that a line leaves out, in this order, where texts would become shorter than 24 cells. */
  readonly optional?: readonly number[]
  /** The cells that a line may take: by default those of the terminal, and no limit elsewhere. */
  readonly width?: number | undefined
}

/** Returns the width of a line for a command with the option `--wide`; undefined for that of the terminal. */
export function readWidth({ wide }: { readonly wide?: boolean | undefined }): number | undefined {
  return wide ? Number.POSITIVE_INFINITY : undefined
}

/** Renders rows in aligned columns under their titles, without borders. Cells that are too long end in `…`. */
export function renderTable(table: TableText, style: Style): string {
  const { columns, rows, whole = [], optional = [], width = findWidth() } = table
  const all = columns.map((title, at) => ({
    ...readColumn(title, rows, at),
    isWhole: title.startsWith('>') || whole.includes(at),
  }))
  const left = chooseColumns(all, { optional, width })
  const shown = all.filter((_, at) => !left.has(at))
  const widths = fitWidths(shown, width)
  const line = (read: (column: Column) => string) =>
    shown
      .map((column, at) => alignCell(read(column), { ...column, width: widths[at] ?? 0 }))
      .join(gap)
      .trimEnd()
  const lines = [
    line(({ title }) => style.dim(title)),
    ...rows.map((_, row) => line(({ cells }) => cells[row] ?? '')),
  ]
  return lines.join('\n')
}

interface Column {
  readonly title: string
  readonly cells: readonly string[]
  readonly isRight: boolean
  /** Never cut: a part of a number is another number. */
  readonly isWhole: boolean
  /** What the longest of the cells takes. */
  readonly natural: number
}

function readColumn(title: string, rows: TableText['rows'], at: number): Omit<Column, 'isWhole'> {
  const cells = rows.map((row) => row[at] ?? '')
  const plain = title.replace(/^>/, '')
  const natural = Math.max(measureText(plain), ...cells.map(measureText))
  return { title: plain, cells, isRight: title.startsWith('>'), natural }
}

const gap = '  '

function findWidth(): number {
  const { isTTY, columns } = process.stdout
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY
}

/** The width to which texts may be cut before optional columns go. */
const readableWidth = 24

interface Choice {
  readonly optional: readonly number[]
  readonly width: number
}

/** Returns the columns to leave out. */
function chooseColumns(
  columns: readonly Column[],
  { optional, width }: Choice,
): ReadonlySet<number> {
  const left = new Set<number>()
  const needs = (at: number, { isWhole, natural }: Column) =>
    isWhole || optional.includes(at) ? natural : Math.min(natural, readableWidth)
  const measure = () =>
    columns.reduce(
      (sum, column, at) => (left.has(at) ? sum : sum + gap.length + needs(at, column)),
      -gap.length,
    )
  for (const at of optional) if (measure() > width) left.add(at)
  return left
}

/** The least width to which a column is cut. */
const leastWidth = 8

/** Takes from the widest texts until the line fits. */
function fitWidths(columns: readonly Column[], width: number): readonly number[] {
  const widths = columns.map(({ natural }) => natural)
  let excess = widths.reduce((sum, each) => sum + gap.length + each, -gap.length) - width
  for (; excess > 0; excess--) {
    const texts = widths.map((each, at) => (columns[at]?.isWhole ? 0 : each))
    const widest = Math.max(...texts)
    if (widest <= leastWidth) break
    widths[texts.indexOf(widest)] = widest - 1
  }
  return widths
}

interface CellRoom {
  readonly width: number
  readonly isRight: boolean
}

function alignCell(cell: string, { width, isRight }: CellRoom): string {
  const text = cutText(cell, width)
  const blanks = ' '.repeat(Math.max(0, width - measureText(text)))
  return isRight ? blanks + text : text + blanks
}
