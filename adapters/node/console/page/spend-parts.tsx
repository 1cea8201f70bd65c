import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { read } from './api.ts'
import { formatCount, formatPercent, formatUsd } from './format.ts'
import type { UsagePart } from './shapes.ts'
import type { Span } from './spend-span.ts'

/** Rows of one call, and how many calls are made for one view. */
const pageSize = 5_000
const maxPages = 20

interface Parts {
  readonly parts: readonly UsagePart[]
  /** False when there are more rows than were read. */
  readonly isWhole: boolean
}

/** What the costs of a span are made of. */
export function SpendParts({ span: { since, until } }: { readonly span: Span }) {
  const found = useSignal<Parts | undefined>(undefined)
  useEffect(() => {
    const view = { isCurrent: true }
    found.value = undefined
    void readParts({ since, until }, view)
      .then((parts) => {
        if (view.isCurrent) found.value = parts
      })
      // The sums beside it say why the gateway cannot be read.
      .catch(() => {})
    return () => {
      view.isCurrent = false
    }
  }, [since, until])
  if (!found.value || found.value.parts.length === 0) return null
  const { parts, isWhole } = found.value
  const total = parts.reduce((sum, { cost }) => sum + cost, 0)
  return (
    <section class="panel">
      <h2>What it is made of</h2>
      {!isWhole && <p>Of the first {formatCount(pageSize * maxPages)} requests.</p>}
      {/* Nothing in it takes the focus, so it does itself: the arrow keys scroll it in a narrow window. */}
      <div class="scroll" tabIndex={0} role="region" aria-label="What the cost is made of">
        <table>
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col" class="wide">
                Cost
              </th>
              <th scope="col" class="number">
                Share
              </th>
              <th scope="col" class="number">
                Count
              </th>
            </tr>
          </thead>
          <tbody>
            {parts.map(({ name, count, cost }) => (
              <tr key={name}>
                <th scope="row">{name.replaceAll('_', ' ')}</th>
                <td class="wide">
                  {formatUsd(cost)}
                  <meter
                    class="accent"
                    min={0}
                    max={1}
                    value={cost / (parts[0]?.cost || 1)}
                    aria-label={`cost ${formatUsd(cost)}`}
                  />
                </td>
                <td class="number">{formatPercent(total > 0 ? cost / total : 0)}</td>
                <td class="number">{formatCount(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

interface Page {
  readonly parts: readonly UsagePart[]
  readonly next_cursor: number | null
}

/** Reads page by page, and stops once the view is another one. The dearest part comes first. */
async function readParts(
  { since, until }: Pick<Span, 'since' | 'until'>,
  view: { readonly isCurrent: boolean },
): Promise<Parts> {
  const sums = new Map<string, UsagePart>()
  let cursor: number | null = 0
  for (let count = 0; count < maxPages && cursor !== null && view.isCurrent; count++) {
    const query: string = `since=${since}&until=${until - 1}&limit=${pageSize}&cursor=${cursor}`
    const page: Page = await read<Page>(`/admin/usage/parts?${query}`)
    for (const { name, ...part } of page.parts) {
      const { count: counted = 0, cost = 0 } = sums.get(name) ?? {}
      sums.set(name, { name, count: counted + part.count, cost: cost + part.cost })
    }
    cursor = page.next_cursor
  }
  const parts = [...sums.values()].filter(({ cost }) => cost > 0).sort((a, b) => b.cost - a.cost)
  return { parts, isWhole: cursor === null }
}
