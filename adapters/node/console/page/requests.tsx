import { useSignal } from '@preact/signals'
import { Choice } from './choice.tsx'
import { useHeldRows, useIsScrolled } from './held-rows.ts'
import { linkTo, place } from './place.ts'
import { filterRequests, outcomes, type RequestFilter, readFilter } from './request-filter.ts'
import { RequestTable } from './request-table.tsx'
import { SearchBox } from './search-box.tsx'
import type { RecentRequest } from './shapes.ts'
import { isPaused, keys, names, requests } from './state.ts'

/** The last requests, newest first, while they come in. */
export function Requests() {
  const opened = useSignal<RecentRequest['id'] | undefined>(undefined)
  const shownRows = useSignal(pageRows)
  const filter = readFilter(place.value.query)
  const found = filterRequests(requests.value, filter, (id) => names.value.get(id))
  const isReading = useIsScrolled() || opened.value !== undefined
  const { shown, waiting, showWaiting } = useHeldRows(found, isReading)
  const toggle = (id: RecentRequest['id']) => {
    opened.value = opened.value === id ? undefined : id
  }
  return (
    <section class="panel">
      <div class="section-head">
        <h2>Requests</h2>
        <PauseButton />
      </div>
      <Filters filter={filter} />
      <p class="hint count" role="status">
        {describeCount(found.length, filter)}
      </p>
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
      {shown.length > 0 && (
        <RequestTable
          requests={shown.slice(0, shownRows.value)}
          opened={opened.value}
          toggle={toggle}
        />
      )}
      {shown.length > shownRows.value && (
        <button type="button" class="quiet more" onClick={() => (shownRows.value += pageRows)}>
          Show older ones
        </button>
      )}
    </section>
  )
}

const pageRows = 100

/** Stops the list, so that it can be read or copied. */
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

interface FilterProps {
  readonly filter: RequestFilter
}

function Filters({ filter }: FilterProps) {
  const models = listModels(filter.model)
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
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
        choices={models.map((model) => [model, model])}
      />
      <Choice
        name="Key"
        parameter="key"
        value={filter.keyId}
        first="All"
        choices={listKeys(filter.keyId)}
      />
      {isFiltered && (
        <a class="clear" href={linkTo('requests')}>
          Clear
        </a>
      )}
    </form>
  )
}

/** The models of the requests, and the chosen one. */
function listModels(chosen: string | undefined): readonly string[] {
  const asked = requests.value.flatMap(({ model }) => model ?? [])
  return [...new Set([...asked, ...(chosen === undefined ? [] : [chosen])])].toSorted()
}

function listKeys(chosen: string | undefined): readonly (readonly [string, string])[] {
  const known = keys.value
    .map(({ id, name }) => [id, name] as const)
    .toSorted(([, a], [, b]) => a.localeCompare(b))
  const isUnknown = chosen !== undefined && known.every(([id]) => id !== chosen)
  return isUnknown ? [...known, [chosen, chosen.slice(0, 8)]] : known
}

function describeCount(count: number, filter: RequestFilter): string {
  const { length: all } = requests.value
  if (all === 0) return 'No request since the start of the gateway.'
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return isFiltered ? `${count} of the last ${all} requests` : `The last ${all} requests`
}
