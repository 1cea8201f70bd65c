import { signal } from '@preact/signals'

/** The address after `#`: the id of a view and what it shows, as in `#requests?key=…`. */
export interface Place {
  readonly view: string
  readonly query: URLSearchParams
}

/** Where the page is; it follows the browser's back button. */
export const place = signal(readPlace())
addEventListener('hashchange', () => (place.value = readPlace()))

/** Parameters of a view. Those without a value are left out of its address. */
export type Parameters = Readonly<Record<string, string | undefined>>

/** The address of a view, for a link. */
export function linkTo(view: string, parameters: Parameters = {}): string {
  return formatAddress(view, setParameters(new URLSearchParams(), parameters))
}

/** Changes what the present view shows. The back button returns to what it showed before. */
export function show(changes: Parameters): void {
  const { view, query } = place.value
  location.hash = formatAddress(view, setParameters(query, changes))
}

/** Does the same without an entry in the history, as for each letter of a search. */
export function showQuietly(changes: Parameters): void {
  const { view, query } = place.value
  replaceAddress(formatAddress(view, setParameters(query, changes)))
}

/** Goes to an address, such as `#overview`, in place of the present one, which stays out of the history. */
export function replaceAddress(address: string): void {
  history.replaceState(null, '', address)
  place.value = readPlace()
}

function setParameters(query: URLSearchParams, changes: Parameters): URLSearchParams {
  const changed = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') changed.delete(name)
    else changed.set(name, value)
  }
  return changed
}

function formatAddress(view: string, query: URLSearchParams): string {
  return query.size === 0 ? `#${view}` : `#${view}?${query}`
}

function readPlace(): Place {
  const [view = '', query] = location.hash.slice(1).split('?')
  return { view, query: new URLSearchParams(query) }
}
