import type { ComponentChildren } from 'preact'
import { type Sorting, type SortName, toggleSorting } from './account-list.ts'
import { BudgetBar, describeBudget } from './budgets.tsx'
import { formatAgo, formatDate, formatWhole } from './format.ts'
import { usedDays } from './last-used.ts'
import { copy } from './notice.tsx'
import { show } from './place.ts'
import type { Subject } from './shapes.ts'

/** A column of a list of keys or groups. */
export interface Column {
  readonly title: string
  /** Set for a column that the list can be sorted by. */
  readonly sort?: SortName
  /** The class of its cells in the style sheet. */
  readonly look?: 'wide' | 'created'
}

interface TableProps {
  readonly columns: readonly Column[]
  readonly sorting: Sorting
  /** The rows. */
  readonly children: ComponentChildren
}

/** A table whose rows become cards on a narrow screen. */
export function AccountTable({ columns, sorting, children }: TableProps) {
  return (
    <div class="scroll">
      <table class="labeled accounts">
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.title} column={column} sorting={sorting} />
            ))}
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

function Head({ column, sorting }: { readonly column: Column; readonly sorting: Sorting }) {
  const { title, sort, look } = column
  if (sort === undefined) {
    return (
      <th scope="col" class={look}>
        {title}
      </th>
    )
  }
  const isSorted = sorting.by === sort
  // Names begin at A, everything else with the highest.
  const isAscending = (sort === 'name') !== sorting.isReversed
  const direction = isAscending ? 'ascending' : 'descending'
  return (
    <th scope="col" class={look} aria-sort={isSorted ? direction : undefined}>
      <button
        type="button"
        class="sort"
        onClick={() => show({ sort: toggleSorting(sorting, sort), page: undefined })}
      >
        {title}
        <span aria-hidden="true">{isSorted ? (isAscending ? ' ↑' : ' ↓') : ''}</span>
      </button>
    </th>
  )
}

interface NameProps {
  readonly subject: Subject
  /** What else the row says about it, before its id. */
  readonly children?: ComponentChildren
}

/** The cell of the name, with the id behind a button that copies it. */
export function NameCell({ subject: { id, name }, children }: NameProps) {
  return (
    <th scope="row" class="name">
      <span class="cut" title={name}>
        {name}
      </span>
      <span class="faint">
        {children}
        <button
          type="button"
          class="id"
          title={`Copy the id ${id}`}
          onClick={() => void copy(id, `Id of ${name}`)}
        >
          <code>{id.slice(0, 8)}</code>
          <span class="visually-hidden">: copy the id of {name}</span>
        </button>
      </span>
    </th>
  )
}

interface CellsProps {
  readonly subject: Subject
  /** Unix seconds. */
  readonly lastUsed: number | undefined
}

/** The cells of the spend, the times, the limits and the models. */
export function AccountCells({ subject, lastUsed }: CellsProps) {
  return (
    <>
      <td class="wide" data-label="Spend">
        <span class="nowrap">{describeBudget(subject)}</span>
        {subject.budget_max !== null && <BudgetBar subject={subject} />}
      </td>
      <td data-label="Last used">
        <LastUsed at={lastUsed} />
      </td>
      <td data-label="Created" class="created nowrap">
        {formatDate(subject.created_at)}
      </td>
      <td data-label="Limits">
        <Limits subject={subject} />
      </td>
      <td data-label="Models">
        <Models models={subject.models} />
      </td>
    </>
  )
}

function LastUsed({ at }: { readonly at: number | undefined }) {
  if (at === undefined) {
    return (
      <span class="faint" title={`no request in the last ${usedDays} days`}>
        –
      </span>
    )
  }
  return (
    <span class="nowrap" title={new Date(at * 1000).toLocaleString('en-GB')}>
      {formatAgo(at)}
    </span>
  )
}

/** More would make a row higher than its neighbours. */
const modelsShown = 2

function Models({ models }: Pick<Subject, 'models'>) {
  if (models === null) return <span class="faint">all</span>
  const rest = models.length - modelsShown
  return (
    <span title={models.join('\n')}>
      {models.slice(0, modelsShown).map((model) => (
        <span key={model} class="cut">
          {model}
        </span>
      ))}
      {rest > 0 && <span class="faint">and {formatWhole(rest)} more</span>}
      {models.length === 0 && 'none'}
    </span>
  )
}

function Limits({ subject }: { readonly subject: Subject }) {
  const { rpm_limit: rpm, tpm_limit: tpm, max_parallel: parallel, priority } = subject
  const limits = [
    rpm === null ? undefined : `${formatWhole(rpm)} requests/min`,
    tpm === null ? undefined : `${formatWhole(tpm)} tokens/min`,
    parallel === null ? undefined : `${formatWhole(parallel)} at once`,
    priority === null ? undefined : `${priority} priority`,
  ].filter((limit) => limit !== undefined)
  if (limits.length === 0) return <span class="faint">none</span>
  return (
    <span>
      {limits.map((limit) => (
        <span key={limit} class="line">
          {limit}
        </span>
      ))}
    </span>
  )
}
