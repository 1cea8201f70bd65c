import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { read } from './api.ts'
import { Choice } from './choice.tsx'
import { CopyButton } from './copy-button.tsx'
import { formatCount, formatDateTime } from './format.ts'
import { place } from './place.ts'
import { Problem } from './problem.tsx'
import { isFound, SearchBox } from './search-box.tsx'
import type { AuditRow, Key, Subject } from './shapes.ts'
import { outage } from './state.ts'

const day = 86_400

/** How far back to look; the first is the choice at the start. */
const spans = [
  ['7', '7 days'],
  ['1', '24 hours'],
  ['30', '30 days'],
  ['365', 'a year'],
] as const

const pageRows = 50

interface Found {
  /** Newest first. */
  readonly rows: readonly AuditRow[]
  /** False when there are more than were read. */
  readonly isWhole: boolean
  /** The names of keys and groups by their ids, those of deleted ones too. */
  readonly names: ReadonlyMap<string, string>
}

/** The changes that operators made through the admin API, the console and the command line. */
export function Audit() {
  const { query } = place.value
  const days = query.get('days') ?? spans[0][0]
  const action = query.get('action') ?? undefined
  const found = useSignal<Found | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  const shownRows = useSignal(pageRows)
  const isDown = outage.value !== undefined
  useEffect(() => {
    const view = { isCurrent: true }
    void findChanges(Number(days))
      .then((changes) => {
        if (!view.isCurrent) return
        found.value = changes
        problem.value = undefined
      })
      .catch((error: unknown) => {
        if (view.isCurrent) problem.value = error instanceof Error ? error.message : String(error)
      })
    return () => {
      view.isCurrent = false
    }
    // Read again when the gateway is back.
  }, [days, isDown])
  const { rows = [], names = new Map<string, string>(), isWhole = true } = found.value ?? {}
  const actions = [...new Set(rows.map((row) => row.action))].toSorted()
  const matching = rows.filter((row) => {
    const isAction = action === undefined || row.action === action
    return isAction && isFound(row.subject_id, nameSubject(row, names), row.request_id, row.client)
  })
  return (
    <section class="panel">
      <div class="section-head">
        <h2>Audit log</h2>
      </div>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <SearchBox placeholder="Name, id or address" />
        <Choice
          name="Action"
          parameter="action"
          value={action}
          first="All"
          choices={actions.map((name) => [name, describeAction(name)])}
        />
        <Choice
          name="Last"
          parameter="days"
          value={days === spans[0][0] ? undefined : days}
          first={spans[0][1]}
          choices={spans.slice(1)}
        />
      </form>
      <Problem of="the audit log" problem={problem.value} />
      {found.value && (
        <p class="hint count" role="status">
          {formatCount(matching.length)} changes
          {!isWhole && `, among the first ${formatCount(rows.length)} of this time`}
        </p>
      )}
      {matching.length > 0 && (
        <AuditTable rows={matching.slice(0, shownRows.value)} names={names} />
      )}
      {matching.length > shownRows.value && (
        <button type="button" class="quiet more" onClick={() => (shownRows.value += pageRows)}>
          Show older ones
        </button>
      )}
    </section>
  )
}

interface AuditTableProps {
  readonly rows: readonly AuditRow[]
  readonly names: ReadonlyMap<string, string>
}

function AuditTable({ rows, names }: AuditTableProps) {
  return (
    <div class="scroll">
      <table class="audit cards">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Change</th>
            <th scope="col">Of</th>
            <th scope="col">By</th>
            <th scope="col">Request</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td class="time">{formatDateTime(row.ts)}</td>
              <th scope="row" class="change">
                {describeAction(row.action)}
              </th>
              <td class="of cut" title={row.subject_id ?? undefined}>
                {nameSubject(row, names)}
              </td>
              <td class="by">{row.client ?? (row.request_id === null ? 'a command' : '–')}</td>
              <td class="id">
                {row.request_id !== null && (
                  <>
                    <code title={row.request_id}>{row.request_id.slice(0, 8)}</code>
                    <CopyButton text={row.request_id} name={`request ${row.request_id}`} />
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** `provider_key.store` in words: `provider key: store`. */
function describeAction(action: string): string {
  return action.replaceAll('_', ' ').replace('.', ': ')
}

function nameSubject(
  { subject_id: id, action }: AuditRow,
  names: ReadonlyMap<string, string>,
): string {
  if (id === null) return '–'
  return names.get(id) ?? (action.startsWith('provider_key') ? id : id.slice(0, 8))
}

/** Rows of one call, and how many calls are made for one view. */
const maxRows = 1000
const maxPages = 10

async function findChanges(days: number): Promise<Found> {
  const since = Math.floor(Date.now() / 1000) - days * day
  const [changes, keys, groups] = await Promise.all([
    readChanges(since),
    read<{ readonly keys: readonly Key[] }>('/admin/keys?include_deleted=true'),
    read<{ readonly groups: readonly Subject[] }>('/admin/groups?include_deleted=true'),
  ])
  const subjects = [...keys.keys, ...groups.groups]
  return { ...changes, names: new Map(subjects.map(({ id, name }) => [id, name])) }
}

async function readChanges(since: number): Promise<Omit<Found, 'names'>> {
  const rows: AuditRow[] = []
  let cursor: number | null = 0
  for (let count = 0; count < maxPages && cursor !== null; count++) {
    const query: string = `since=${since}&limit=${maxRows}&cursor=${cursor}`
    const page: AuditPage = await read<AuditPage>(`/admin/audit?${query}`)
    rows.push(...page.rows)
    cursor = page.next_cursor
  }
  return { rows: rows.toReversed(), isWhole: cursor === null }
}

interface AuditPage {
  readonly rows: readonly AuditRow[]
  readonly next_cursor: number | null
}
