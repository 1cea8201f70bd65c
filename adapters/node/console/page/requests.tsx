import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { useAnswer } from './answer.ts'
import { Choice } from './choice.tsx'
import { formatCount } from './format.ts'
import { useHeldRows, useIsScrolled } from './held-rows.ts'
import { linkTo, place } from './place.ts'
import { Problem } from './problem.tsx'
import { type RequestFeed, useRequestFeed } from './request-feed.ts'
import {
  outcomes,
  type RequestFilter,
  ranges,
  readFilter,
  searchRequests,
  writeQuery,
} from './request-filter.ts'
import { RequestTable } from './request-table.tsx'
import { SearchBox } from './search-box.tsx'
import type { ModelReports, RecentRequest } from './shapes.ts'
import { isPaused, keys, names } from './state.ts'

/** The requests of the logs, newest first, and those that come while the view is open. */
export function Requests() {
  const filter = readFilter(place.value.query)
  const { text, ...asked } = filter
  // The window begins where it began, so that the pages fit together.
  const query = useMemo(
    () => writeQuery(filter, Math.floor(Date.now() / 1000)),
    [Object.values(asked).join()],
  )
  const feed = useRequestFeed(query)
  return (
    <section class="panel">
      <div class="section-head">
        <h2>Requests</h2>
        <PauseButton />
      </div>
      <Filters filter={filter} rows={feed.rows ?? []} />
      <Problem of="the requests" problem={feed.problem} />
      {feed.rows && <Found key={query} feed={feed} rows={feed.rows} text={text} />}
    </section>
  )
}

/** Stops the lists, so that they can be read or copied. */
export function PauseButton() {
  return (
    <button
      type="button"
      class="quiet"
      aria-pressed={isPaused}
      onClick={() => (isPaused.value = !isPaused.value)}
    >
      {isPaused.value ? 'Resume' : 'Pause'}
    </button>
  )
}

interface FoundProps {
  readonly feed: RequestFeed
  readonly rows: readonly RecentRequest[]
  readonly text: string | undefined
}

function Found({ feed, rows, text }: FoundProps) {
  const opened = useSignal<RecentRequest['id'] | undefined>(undefined)
  const found = searchRequests(rows, text, (id) => names.value.get(id))
  const isReading = useIsScrolled() || opened.value !== undefined
  const { shown, waiting, showWaiting } = useHeldRows(found, isReading)
  const toggle = (id: RecentRequest['id']) => {
    opened.value = opened.value === id ? undefined : id
  }
  const { readOlder } = feed
  return (
    <>
      <p class="hint count" role="status">
        {describeCount(found.length, { all: rows.length, isWhole: !readOlder, text })}
      </p>
      {text !== undefined && found.length === 0 && (
        <p>
          <a href={linkTo('requests', { id: text.trim() })}>Look for a request with this id</a> in
          all logs.
        </p>
      )}
      {waiting > 0 && (
        <button
          type="button"
          class="primary new-rows"
          onClick={() => {
            showWaiting()
            scrollTo(0, 0)
          }}
        >
          Show {waiting} new
        </button>
      )}
      {shown.length > 0 && <RequestTable requests={shown} opened={opened.value} toggle={toggle} />}
      {readOlder && (
        <button type="button" class="quiet more" onClick={readOlder}>
          Show older ones
        </button>
      )}
    </>
  )
}

interface FiltersProps {
  readonly filter: RequestFilter
  readonly rows: readonly RecentRequest[]
}

function Filters({ filter, rows }: FiltersProps) {
  const { value: configured } = useAnswer<ModelReports>('/admin/models')
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  if (filter.requestId !== undefined) {
    return (
      <p>
        With the id <code>{filter.requestId}</code>: <a href={linkTo('requests')}>show all</a>
      </p>
    )
  }
  const models = [
    ...(configured?.models ?? []).filter(({ is_pattern: is }) => !is).map(({ id }) => id),
    ...rows.flatMap(({ model }) => model ?? []),
    ...(filter.model === undefined ? [] : [filter.model]),
  ]
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <SearchBox placeholder="Id, name, error or reason" />
      <Choice
        name="Status"
        parameter="status"
        value={filter.outcome}
        first="All"
        choices={outcomes.map(({ id, name }) => [id, name])}
      />
      <Choice
        name="Model"
        parameter="model"
        value={filter.model}
        first="All"
        choices={[...new Set(models)].toSorted().map((model) => [model, model])}
      />
      <Choice
        name="Key"
        parameter="key"
        value={filter.keyId}
        first="All"
        choices={listKeys(filter.keyId)}
      />
      <Choice
        name="Last"
        parameter="last"
        value={filter.range}
        first={ranges[0].name}
        choices={ranges.slice(1).map(({ id, name }) => [id, name])}
      />
      {isFiltered && (
        <a class="clear" href={linkTo('requests')}>
          Clear
        </a>
      )}
    </form>
  )
}

function listKeys(chosen: string | undefined): readonly (readonly [string, string])[] {
  const known = keys.value
    .map(({ id, name }) => [id, name] as const)
    .toSorted(([, a], [, b]) => a.localeCompare(b))
  const isUnknown = chosen !== undefined && known.every(([id]) => id !== chosen)
  return isUnknown ? [...known, [chosen, chosen.slice(0, 8)]] : known
}

interface Counted {
  /** The rows that are here. */
  readonly all: number
  /** There are no older ones. */
  readonly isWhole: boolean
  readonly text: string | undefined
}

function describeCount(count: number, { all, isWhole, text }: Counted): string {
  if (all === 0) return 'No such request'
  const among = isWhole ? `${formatCount(all)} requests` : `the newest ${formatCount(all)} requests`
  return text === undefined ? among : `${formatCount(count)} among ${among}`
}
