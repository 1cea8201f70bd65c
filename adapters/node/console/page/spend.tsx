import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { read } from './api.ts'
import { formatCount, formatUsd } from './format.ts'
import type { UsageGroup } from './shapes.ts'
import { names } from './state.ts'

const spans = [
  { name: '24 hours', seconds: 86_400 },
  { name: '7 days', seconds: 7 * 86_400 },
  { name: '30 days', seconds: 30 * 86_400 },
] as const

const groupings = [
  { name: 'Key', field: 'key_id' },
  { name: 'Group', field: 'group_id' },
  { name: 'Model', field: 'model' },
  { name: 'Provider', field: 'provider' },
] as const

/** What was spent, by key, group, model or provider. */
export function Spend() {
  const seconds = useSignal<number>(spans[0].seconds)
  const field = useSignal<string>(groupings[0].field)
  const sums = useSignal<readonly UsageGroup[] | undefined>(undefined)
  useEffect(() => {
    const query = `since=${Math.floor(Date.now() / 1000) - seconds.value}&group_by=${field.value}`
    let isCurrent = true
    void read<{ groups: UsageGroup[] }>(`/admin/usage?${query}`)
      .then(({ groups }) => {
        if (isCurrent) sums.value = groups
      })
      // The bar above shows that the gateway does not answer.
      .catch(() => undefined)
    return () => {
      isCurrent = false
    }
  }, [seconds.value, field.value])
  return (
    <section class="panel">
      <div class="section-head">
        <h2>Spend</h2>
        <label>
          of the last{' '}
          <select onChange={({ currentTarget }) => (seconds.value = Number(currentTarget.value))}>
            {spans.map((span) => (
              <option key={span.name} value={span.seconds}>
                {span.name}
              </option>
            ))}
          </select>
        </label>
        <label>
          by{' '}
          <select onChange={({ currentTarget }) => (field.value = currentTarget.value)}>
            {groupings.map((grouping) => (
              <option key={grouping.field} value={grouping.field}>
                {grouping.name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {sums.value && <SpendTable sums={sums.value} />}
    </section>
  )
}

function SpendTable({ sums }: { readonly sums: readonly UsageGroup[] }) {
  if (sums.length === 0) return <p class="empty">No request in this time.</p>
  const highest = Math.max(...sums.map(({ cost }) => cost), Number.MIN_VALUE)
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" class="wide">
              Cost
            </th>
            <th scope="col" class="number">
              Requests
            </th>
            <th scope="col" class="number">
              Failed
            </th>
            <th scope="col" class="number">
              Tokens in
            </th>
            <th scope="col" class="number">
              Tokens out
            </th>
          </tr>
        </thead>
        <tbody>
          {sums.map((sum) => (
            <tr key={sum.group}>
              <th scope="row">{names.value.get(sum.group) ?? (sum.group || 'none')}</th>
              <td class="wide">
                {formatUsd(sum.cost)}
                <meter
                  class="accent"
                  min={0}
                  max={1}
                  value={sum.cost / highest}
                  aria-label={`cost ${formatUsd(sum.cost)}`}
                />
              </td>
              <td class="number">{formatCount(sum.requests)}</td>
              <td class="number">{formatCount(sum.requests - sum.requests_ok)}</td>
              <td class="number">{formatCount(sum.tokens_in)}</td>
              <td class="number">{formatCount(sum.tokens_out)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
