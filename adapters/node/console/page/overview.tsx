import { Budgets } from './budgets.tsx'
import { Chart } from './chart.tsx'
import { formatClock, formatCount, formatDuration, formatPercent, formatUsd } from './format.ts'
import { useLastHour } from './last-hour.ts'
import { LastRequests } from './last-requests.tsx'
import { linkTo } from './place.ts'
import { Providers } from './providers.tsx'
import type { Minute, Status } from './shapes.ts'
import { outage, status } from './state.ts'

/** What happens now: one look says whether something is wrong. */
export function Overview() {
  const { value: known } = status
  if (!known) return outage.value === undefined && <p class="empty">Waiting for the gateway…</p>
  const minutes = listShownMinutes(known)
  return (
    <>
      <Tiles now={known} />
      <div class="pair">
        <RequestChart minutes={minutes} start={describeStart(known)} />
        <LatencyChart minutes={minutes} />
      </div>
      <div class="pair">
        <Providers status={known} />
        <Budgets />
      </div>
      <LastRequests />
    </>
  )
}

const minMinutes = 15

/** Without those before the start, of which the gateway knows nothing; at least so many that bars stay narrow. */
function listShownMinutes({ minutes, started_at: startedAt }: Status): readonly Minute[] {
  const known = minutes.filter(({ starts_at: at }) => at + 60 > startedAt).length
  return minutes.slice(-Math.max(known, minMinutes))
}

function describeStart({ now, started_at: startedAt }: Status): string {
  return now - startedAt < 3600 ? `, counted since the start at ${formatClock(startedAt)}` : ''
}

function Tiles({ now }: { readonly now: Status }) {
  const { minutes } = now
  const { totals, window } = useLastHour(now)
  const { requests: all, failed } = totals
  const latest = minutes.findLast(({ latency_p95_ms: p95 }) => p95 !== null)
  return (
    <dl class="tiles">
      <Tile name="Running now" value={formatCount(now.in_flight)} note="requests and streams" />
      <Tile
        name="Requests"
        value={formatCount(all)}
        note={window}
        href={linkTo('requests', { last: '1h' })}
      />
      <Tile
        name="Server errors"
        value={all === 0 ? '–' : formatPercent(failed / all)}
        note={`${formatCount(failed)} of ${formatCount(all)}`}
        isBad={failed > 0}
        href={linkTo('requests', { last: '1h', status: '5xx' })}
      />
      <Tile
        name="Latency, p95"
        value={latest ? formatDuration(latest.latency_p95_ms ?? 0) : '–'}
        note={latest ? describeLatency(latest) : 'no request yet'}
      />
      <Tile
        name="Spend"
        value={formatUsd(totals.cost)}
        note={`${formatCount(totals.tokens)} tokens ${window}`}
      />
    </dl>
  )
}

/** The percentiles are those of a minute: those of several cannot be joined. */
function describeLatency({ latency_p50_ms: median, starts_at: startsAt }: Minute): string {
  return `median ${formatDuration(median ?? 0)}, at ${formatClock(startsAt)}`
}

interface TileProps {
  readonly name: string
  readonly value: string
  readonly note: string
  readonly isBad?: boolean
  /** The view that says more. */
  readonly href?: string
}

function Tile({ name, value, note, isBad = false, href }: TileProps) {
  return (
    <div class={isBad ? 'panel tile bad' : 'panel tile'}>
      <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
      <dd class="figure">{value}</dd>
      <dd class="note">{note}</dd>
    </div>
  )
}

interface MinutesProps {
  readonly minutes: readonly Minute[]
}

interface RequestChartProps extends MinutesProps {
  /** Since when requests are counted, in words. */
  readonly start: string
}

function RequestChart({ minutes, start }: RequestChartProps) {
  const last = minutes.at(-1)
  const latest = last
    ? last.requests_ok + last.requests_client_error + last.requests_server_error
    : 0
  return (
    <Chart
      title="Requests a minute"
      summary={`${formatCount(latest)} in this minute${start}`}
      times={minutes.map(({ starts_at: at }) => at)}
      style="bars"
      format={formatCount}
      minStep={1}
      step={60}
      formatTime={formatClock}
      series={[
        { label: 'served', color: 'good', values: minutes.map((each) => each.requests_ok) },
        {
          label: 'client errors',
          color: 'warn',
          values: minutes.map((each) => each.requests_client_error),
        },
        {
          label: 'server errors',
          color: 'bad',
          values: minutes.map((each) => each.requests_server_error),
        },
      ]}
    />
  )
}

function LatencyChart({ minutes }: MinutesProps) {
  const latest = minutes.findLast(({ latency_p50_ms: p50 }) => p50 !== null)
  return (
    <Chart
      title="Latency"
      summary={latest ? `median ${formatDuration(latest.latency_p50_ms ?? 0)}` : 'no request yet'}
      times={minutes.map(({ starts_at: at }) => at)}
      style="lines"
      format={formatDuration}
      minStep={1}
      step={60}
      formatTime={formatClock}
      series={[
        { label: 'median', color: 'accent', values: minutes.map((each) => each.latency_p50_ms) },
        { label: 'p95', color: 'second', values: minutes.map((each) => each.latency_p95_ms) },
      ]}
    />
  )
}
