import type { Style } from './style.ts'

export interface TableText {
  /** The title of each column. A title that begins with `>` aligns its column to the right. */
  readonly columns: readonly string[]
  /** The cells, which may be painted. */
  readonly rows: readonly (readonly string[])[]
}

/** Renders rows in aligned columns under their titles, without borders. */
export async function renderTable({ columns, rows }: TableText, style: Style): Promise<string> {
  // Loaded here, because most runs of the gateway print no table.
  const { default: Table } = await import('cli-table3')
  const titles = columns.map((title) => style.dim(title.replace(/^>/, '')))
  const table = new Table({
    chars: noBorders,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
    colAligns: columns.map((title) => (title.startsWith('>') ? 'right' : 'left')),
  })
  table.push(titles, ...rows.map((row) => [...row]))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

const noBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
}
