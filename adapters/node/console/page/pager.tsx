import { formatWhole } from './format.ts'

/** How many rows a page of a table has. */
export const pageSize = 50

interface PagerProps {
  /** From 1. */
  readonly page: number
  /** The number of all rows. */
  readonly count: number
  readonly turn: (page: number) => void
}

/** Which rows are shown, and the way to the others. Nothing where all are shown. */
export function Pager({ page, count, turn }: PagerProps) {
  if (count <= pageSize) return null
  const first = (page - 1) * pageSize + 1
  const last = Math.min(page * pageSize, count)
  return (
    <nav class="pager" aria-label="Pages">
      <span>
        {formatWhole(first)} to {formatWhole(last)} of {formatWhole(count)}
      </span>
      <button type="button" class="quiet" disabled={page === 1} onClick={() => turn(page - 1)}>
        Previous
      </button>
      <button type="button" class="quiet" disabled={last === count} onClick={() => turn(page + 1)}>
        Next
      </button>
    </nav>
  )
}

/** Returns the rows of a page, and its number: one past the end becomes the last. */
export function takePage<Row>(rows: readonly Row[], wanted: number): [rows: Row[], page: number] {
  const pages = Math.max(1, Math.ceil(rows.length / pageSize))
  const page = Number.isInteger(wanted) ? Math.min(Math.max(wanted, 1), pages) : 1
  return [rows.slice((page - 1) * pageSize, page * pageSize), page]
}
