import { formatCount, formatTime } from './format.ts'
import { isFound } from './search-box.tsx'
import type { DiscoveredModel, ModelList } from './shapes.ts'
import { status } from './state.ts'
import { State } from './state-word.tsx'

/** More would make the page slow; a search finds the others. */
const maxShown = 200

/** The lists of models that vendors were asked for, and what patterns serve of them. */
export function DiscoveredModels({ models }: { readonly models: readonly DiscoveredModel[] }) {
  const lists = Object.entries(status.value?.model_lists ?? {})
  if (lists.length === 0 && models.length === 0) return null
  const found = models.filter(({ id, provider }) => isFound(id, provider))
  return (
    <section class="panel">
      <h2>Discovered models</h2>
      <ul class="rows">
        {lists.map(([provider, list]) => (
          <li key={provider} class="row-head">
            <strong>{provider}</strong>
            <State {...describeList(list)} />
          </li>
        ))}
      </ul>
      {found.length > 0 && (
        <>
          <p class="hint count">
            {formatCount(found.length)} that patterns serve
            {found.length > maxShown && `; the first ${maxShown}, search for the others`}
          </p>
          <ul class="names">
            {found.slice(0, maxShown).map(({ id }) => (
              <li key={id}>
                <code>{id}</code>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

function describeList({ models, listed_at: listedAt, failure }: ModelList) {
  const read =
    listedAt === null ? undefined : `${models ?? 0} models, read at ${formatTime(listedAt)}`
  if (failure !== null) {
    return { color: 'warn', word: [failure, read].filter(Boolean).join('; ') } as const
  }
  return read === undefined
    ? ({ color: 'none', word: 'not read yet' } as const)
    : ({ color: 'good', word: read } as const)
}
