import { signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { read } from './api.ts'
import { linkTo, type Parameters, place, show } from './place.ts'
import { saveFile } from './save-file.ts'
import type { Subject } from './shapes.ts'
import { SpendChart } from './spend-chart.tsx'
import { toCsv } from './spend-csv.ts'
import { type Dimension, dimensions, type Narrowing, titles } from './spend-dimensions.ts'
import { SpendParts } from './spend-parts.tsx'
import { maxDays, ownDates, readSpan, spans } from './spend-span.ts'
import { readSums, type SpendQuery, type Sums } from './spend-sums.ts'
import { SpendTable } from './spend-table.tsx'
import { names, outage } from './state.ts'

/** What was spent over time, and by group, key, model or provider. The address keeps what is chosen. */
export function Spend() {
  const { query } = place.value
  const sums = useSignal<Sums | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  const isDown = outage.value !== undefined
  const span = readSpan(query, Date.now() / 1000)
  useEffect(() => {
    let isCurrent = true
    if (typeof span === 'string') return
    const wanted: SpendQuery = { span, by: readDimension(query), narrowing: readNarrowing(query) }
    void Promise.all([readSums(wanted), readNames()])
      .then(([answer]) => {
        if (!isCurrent) return
        sums.value = answer
        problem.value = undefined
      })
      .catch((error: unknown) => {
        if (isCurrent) problem.value = error instanceof Error ? error.message : String(error)
      })
    return () => {
      isCurrent = false
    }
    // Read again when the gateway is back.
  }, [query.toString(), isDown])
  const known = typeof span === 'string' ? undefined : sums.value
  return (
    <>
      <Choices query={query} sums={known} />
      <Trail narrowing={readNarrowing(query)} />
      {typeof span === 'string' && <p class="panel empty">{span}</p>}
      {problem.value !== undefined && (
        <p class="problem" role="alert">
          The spend could not be read: {problem}
        </p>
      )}
      {known && <Found sums={known} />}
      {!known && typeof span !== 'string' && problem.value === undefined && (
        <p class="panel empty">Reading the usage log…</p>
      )}
    </>
  )
}

function Found({ sums }: { readonly sums: Sums }) {
  const { groups, span, narrowing } = sums
  if (groups.length === 0) {
    return <p class="panel empty">There was no such request {span.words}.</p>
  }
  return (
    <>
      <SpendChart sums={sums} nameOf={nameOf} />
      <section class="panel">
        <SpendTable sums={sums} nameOf={nameOf} />
      </section>
      {/* The parts are those of all requests. */}
      {Object.keys(narrowing).length === 0 && <SpendParts span={span} />}
    </>
  )
}

interface ChoicesProps {
  readonly query: URLSearchParams
  readonly sums: Sums | undefined
}

function Choices({ query, sums }: ChoicesProps) {
  const isOwn = query.get('span') === ownDates
  const choose =
    (name: string) =>
    ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLSelectElement }) =>
      show({ [name]: currentTarget.value })
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <label>
        Time{' '}
        <select value={isOwn ? ownDates : (query.get('span') ?? '24h')} onChange={chooseSpan}>
          {spans.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          <option value={ownDates}>Own dates</option>
        </select>
      </label>
      {isOwn && (
        <>
          <label>
            from <input type="date" value={query.get('from') ?? ''} onChange={choose('from')} />
          </label>
          <label>
            to <input type="date" value={query.get('to') ?? ''} onChange={choose('to')} />
          </label>
          <span class="hint">UTC, up to {maxDays} days</span>
        </>
      )}
      <label>
        by{' '}
        <select value={readDimension(query)} onChange={choose('by')}>
          {dimensions.map((dimension) => (
            <option key={dimension} value={dimension}>
              {titles[dimension]}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        class="quiet end"
        disabled={!sums || sums.groups.length === 0}
        onClick={() => sums && saveFile(nameFile(sums), toCsv(sums, nameOf))}
      >
        Export CSV
      </button>
    </form>
  )
}

/** Own dates begin with the last week, so that both fields are filled in. */
function chooseSpan({ currentTarget: { value } }: { currentTarget: HTMLSelectElement }): void {
  const toDay = (time: number) => new Date(time).toISOString().slice(0, 10)
  const now = Date.now()
  const dates: Parameters =
    value === ownDates
      ? { from: toDay(now - 6 * 86_400_000), to: toDay(now) }
      : { from: undefined, to: undefined }
  show({ span: value, ...dates })
}

/** What the spend is narrowed to, each with the way back. */
function Trail({ narrowing }: { readonly narrowing: Narrowing }) {
  const narrowed = dimensions.filter((dimension) => narrowing[dimension] !== undefined)
  if (narrowed.length === 0) return null
  const { query } = place.value
  const without = (dimension: Dimension) =>
    linkTo('spend', { ...Object.fromEntries(query), [dimension]: undefined, by: dimension })
  return (
    <ul class="trail" aria-label="Only">
      {narrowed.map((dimension) => {
        const name = nameOf(narrowing[dimension] ?? '')
        return (
          <li key={dimension}>
            {titles[dimension]} <strong>{name}</strong>{' '}
            <a href={without(dimension)} aria-label={`Show all, not only ${name}`}>
              ✕
            </a>
          </li>
        )
      })}
    </ul>
  )
}

function readDimension(query: URLSearchParams): Dimension {
  return dimensions.find((dimension) => dimension === query.get('by')) ?? 'key'
}

function readNarrowing(query: URLSearchParams): Narrowing {
  const given = dimensions.flatMap((dimension) => {
    const value = query.get(dimension)
    return value ? [[dimension, value] as const] : []
  })
  return Object.fromEntries(given)
}

function nameFile({ by, span: { since, until } }: Sums): string {
  const [first, last] = [since, until - 1].map((time) => new Date(time * 1000).toISOString())
  return `spend-by-${by}-${first?.slice(0, 10)}-${last?.slice(0, 10)}.csv`
}

/** The names of keys and groups by their ids, with those of deleted ones. */
const allNames = signal<ReadonlyMap<string, string>>(new Map())

interface Named extends Pick<Subject, 'id' | 'name'> {
  readonly deleted_at: number | null
}

/** The spend of what is deleted stays in the usage log. */
async function readNames(): Promise<void> {
  const [{ keys }, { groups }] = await Promise.all([
    read<{ keys: Named[] }>('/admin/keys?include_deleted=true'),
    read<{ groups: Named[] }>('/admin/groups?include_deleted=true'),
  ])
  allNames.value = new Map(
    [...keys, ...groups].map(({ id, name, deleted_at: deletedAt }) => [
      id,
      deletedAt === null ? name : `${name} (deleted)`,
    ]),
  )
}

/** The name of a key or group; a model or provider is its own name. */
function nameOf(id: string): string {
  return allNames.value.get(id) ?? names.value.get(id) ?? (id || 'none')
}
