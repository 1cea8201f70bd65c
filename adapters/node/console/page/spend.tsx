import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { read } from './api.ts'
import { Chart } from './chart.tsx'
import { formatClock, formatCount, formatUsd, formatUtcDay } from './format.ts'
import type { UsageGroup } from './shapes.ts'
import { SpendParts } from './spend-parts.tsx'
import { names, outage } from './state.ts'

interface Interval {
  readonly name: string
  readonly seconds: number
  readonly formatTime: (seconds: number) => string
  /** The time zone of these times, when it is not the browser's. */
  readonly zone?: string
}

const hour: Interval = { name: 'hour', seconds: 3600, formatTime: formatClock }
const day: Interval = { name: 'day', seconds: 86_400, formatTime: formatUtcDay, zone: 'UTC' }

interface Span {
  readonly name: string
  readonly interval: Interval
  /** The number of intervals, with the one that has begun. */
  readonly count: number
}

const spans: readonly [Span, ...Span[]] = [
  { name: '24 hours', interval: hour, count: 24 },
  { name: '7 days', interval: day, count: 7 },
  { name: '30 days', interval: day, count: 30 },
]

const groupings = [
  { name: 'Key', field: 'key_id' },
  { name: 'Group', field: 'group_id' },
  { name: 'Model', field: 'model' },
  { name: 'Provider', field: 'provider' },
] as const

/** The sums of a span, and the starts of its intervals. */
interface Sums {
  readonly span: Span
  readonly starts: readonly number[]
  readonly groups: readonly UsageGroup[]
}

/** What was spent over time, and by key, group, model or provider. */
export function Spend() {
  const span = useSignal<Span>(spans[0])
  const field = useSignal<string>(groupings[0].field)
  const sums = useSignal<Sums | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  const isDown = outage.value !== undefined
  useEffect(() => {
    let isCurrent = true
    void readSums(span.value, field.value)
      .then((answer) => {
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
  }, [span.value, field.value, isDown])
  return (
    <>
      <div class="section-head">
        <h2>Spend</h2>
        <label>
          of the last{' '}
          <select
            onChange={({ currentTarget }) => {
              span.value = spans[currentTarget.selectedIndex] ?? spans[0]
            }}
          >
            {spans.map(({ name }) => (
              <option key={name}>{name}</option>
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
      {problem.value !== undefined && (
        <p class="problem" role="alert">
          The spend could not be read: {problem}
        </p>
      )}
      {sums.value && <SpendChart sums={sums.value} />}
      {sums.value && (
        <section class="panel">
          <SpendTable sums={sums.value.groups} />
        </section>
      )}
      {sums.value && <SpendParts since={sums.value.starts[0] ?? 0} />}
    </>
  )
}

async function readSums(span: Span, field: string): Promise<Sums> {
  const { interval, count } = span
  const last = Math.floor(Date.now() / 1000 / interval.seconds) * interval.seconds
  const starts = Array.from(
    { length: count },
    (_, at) => last - (count - 1 - at) * interval.seconds,
  )
  const query = `since=${starts[0]}&group_by=${field}&interval=${interval.name}&limit=1000`
  const { groups } = await read<Pick<Sums, 'groups'>>(`/admin/usage?${query}`)
  return { span, starts, groups }
}

function SpendChart({ sums: { span, starts, groups } }: { readonly sums: Sums }) {
  const { interval, name } = span
  const costs = new Map(starts.map((start) => [start, 0]))
  for (const { start, cost } of groups.flatMap(({ intervals }) => intervals)) {
    costs.set(start, (costs.get(start) ?? 0) + cost)
  }
  const total = groups.reduce((sum, { cost }) => sum + cost, 0)
  return (
    <Chart
      title={`Spend by ${interval.name}`}
      summary={`${formatUsd(total)} in the last ${name}`}
      times={starts}
      style="bars"
      format={formatUsd}
      step={interval.seconds}
      formatTime={interval.formatTime}
      {...(interval.zone !== undefined && { zone: interval.zone })}
      series={[{ label: 'cost', color: 'accent', values: [...costs.values()] }]}
    />
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
