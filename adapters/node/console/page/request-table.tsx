import { formatCount, formatDuration, formatMoment, formatUsd } from './format.ts'
import { RequestDetails } from './request-details.tsx'
import type { RecentRequest } from './shapes.ts'
import { names } from './state.ts'
import { State } from './state-word.tsx'

interface RequestTableProps {
  readonly requests: readonly RecentRequest[]
  /** The id of the request whose details are shown. */
  readonly opened: RecentRequest['id'] | undefined
  readonly toggle: (id: RecentRequest['id']) => void
}

/** Requests, one in a row that opens to its details. In a narrow window a row becomes a card. */
export function RequestTable({ requests, opened, toggle }: RequestTableProps) {
  return (
    <div class="scroll">
      <table class="requests cards">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Status</th>
            <th scope="col">Model</th>
            <th scope="col">Provider</th>
            <th scope="col">Key</th>
            <th scope="col" class="number">
              Latency
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number">
              Cost
            </th>
            <th scope="col" class="attempts number">
              Attempts
            </th>
          </tr>
        </thead>
        {requests.map((request) => (
          <Row key={request.id} request={request} isOpen={opened === request.id} toggle={toggle} />
        ))}
      </table>
    </div>
  )
}

interface RowProps {
  readonly request: RecentRequest
  readonly isOpen: boolean
  readonly toggle: (id: RecentRequest['id']) => void
}

function Row({ request, isOpen, toggle }: RowProps) {
  const { id, model, model_used: used, key_id: keyId, provider } = request
  const key = keyId === null ? '–' : (names.value.get(keyId) ?? keyId.slice(0, 8))
  // Marking a text ends with a click, too.
  const onClick = () => {
    if (getSelection()?.isCollapsed ?? true) toggle(id)
  }
  return (
    <tbody>
      <tr class="request" onClick={onClick}>
        <td class="time">
          <button type="button" class="link" aria-expanded={isOpen}>
            {formatMoment(request.ts)}
          </button>
        </td>
        <td class="status">
          <State {...describeStatus(request)} />
          {request.count > 1 && <span class="faint"> × {formatCount(request.count)}</span>}
        </td>
        <td class="model cut" title={model ?? undefined}>
          {model ?? '–'}
          {used !== null && used !== model && <span class="faint"> → {used}</span>}
        </td>
        <td class="provider cut" title={provider ?? undefined}>
          {provider ?? '–'}
        </td>
        <td class="key cut" title={key}>
          {key}
        </td>
        <td class="latency number">{formatDuration(request.latency_ms)}</td>
        <td class="tokens number">{describeTokens(request)}</td>
        <td class="cost number">{formatUsd(request.cost)}</td>
        <td class="attempts number">{request.cache_hit ? 'cached' : request.attempts}</td>
      </tr>
      {isOpen && (
        <tr class="opened">
          <td colSpan={9}>
            <RequestDetails request={request} />
          </td>
        </tr>
      )}
    </tbody>
  )
}

function describeStatus({ status, error_code: code }: RecentRequest) {
  const color = status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good'
  return { color, word: code === null ? String(status) : `${status} ${code}` } as const
}

function describeTokens({ tokens_in: tokensIn, tokens_out: tokensOut }: RecentRequest): string {
  if (tokensIn === null) return '–'
  return `${formatCount(tokensIn)} + ${formatCount(tokensOut ?? 0)}`
}
