import { useSignal } from '@preact/signals'
import { formatCount, formatDuration, formatTime, formatUsd } from './format.ts'
import { State } from './providers.tsx'
import type { RecentRequest } from './shapes.ts'
import { isPaused, names, requests } from './state.ts'

/** The last requests, newest first. A row opens to its attempts. */
export function Requests() {
  const opened = useSignal<number | undefined>(undefined)
  const toggle = (id: number) => {
    opened.value = opened.value === id ? undefined : id
  }
  return (
    <section class="panel">
      <div class="section-head">
        <h2>Last requests</h2>
        <button
          type="button"
          class="quiet"
          aria-pressed={isPaused}
          onClick={() => (isPaused.value = !isPaused.value)}
        >
          {isPaused.value ? 'Resume' : 'Pause'}
        </button>
      </div>
      {requests.value.length === 0 && (
        <p class="empty">
          No request since the start of the gateway; Spend has the sums of earlier ones. Send one,
          for example in the <a href="#chat">chat</a>.
        </p>
      )}
      {requests.value.length > 0 && (
        <div class="scroll">
          <table>
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
                <th scope="col" class="number">
                  Attempts
                </th>
              </tr>
            </thead>
            {requests.value.map((request) => (
              <Row
                key={request.id}
                request={request}
                isOpen={opened.value === request.id}
                toggle={toggle}
              />
            ))}
          </table>
        </div>
      )}
    </section>
  )
}

interface RowProps {
  readonly request: RecentRequest
  readonly isOpen: boolean
  readonly toggle: (id: number) => void
}

function Row({ request, isOpen, toggle }: RowProps) {
  const { id, model, model_used: used, key_id: keyId } = request
  return (
    <tbody>
      <tr>
        <td>
          <button type="button" class="link" aria-expanded={isOpen} onClick={() => toggle(id)}>
            {formatTime(request.ts)}
          </button>
        </td>
        <td>
          <State {...describeStatus(request)} />
        </td>
        <td>
          {model ?? '–'}
          {used !== null && used !== model && <span class="faint"> → {used}</span>}
        </td>
        <td>{request.provider ?? '–'}</td>
        <td>{keyId === null ? '–' : (names.value.get(keyId) ?? keyId.slice(0, 8))}</td>
        <td class="number">{formatDuration(request.latency_ms)}</td>
        <td class="number">{describeTokens(request)}</td>
        <td class="number">{formatUsd(request.cost)}</td>
        <td class="number">{request.cache_hit ? 'cached' : request.attempts}</td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={9}>
            <Details request={request} />
          </td>
        </tr>
      )}
    </tbody>
  )
}

function Details({ request }: Pick<RowProps, 'request'>) {
  const { failed, ttft_ms: ttft, queued_ms: queued, estimated } = request
  return (
    <div class="details">
      <p>
        <code>{request.request_id}</code> · {request.api}
        {request.stream && ', streamed'}
        {queued != null && `, waited ${formatDuration(queued)} for room`}
        {ttft !== null && `, first token after ${formatDuration(ttft)}`}
        {estimated && ', tokens estimated'}
      </p>
      <ol>
        {failed.map((link) => (
          <li key={`${link.provider}/${link.model}`}>
            <code>
              {link.provider} → {link.model}
            </code>{' '}
            {link.reason}
            {describeAttempts(link.attempts)}
          </li>
        ))}
        <LastLink request={request} />
      </ol>
      {request.error_code !== null && (
        <p>
          answered with <code>{request.error_code}</code>
          {request.reason !== null && `: ${request.reason}`}
        </p>
      )}
    </div>
  )
}

/** The link that answered. One whose stream broke is among the failed links. */
function LastLink({ request }: Pick<RowProps, 'request'>) {
  const { model_used: used, provider, cache_hit: isHit, failed, error_code: code } = request
  const attempts = failed.reduce((rest, link) => rest - link.attempts, request.attempts)
  if (used === null || isHit || attempts === 0) return null
  return (
    <li>
      <code>
        {provider} → {used}
      </code>{' '}
      {code === null ? 'served' : 'was answering'}
      {describeAttempts(attempts)}
    </li>
  )
}

function describeAttempts(attempts: number): string {
  return attempts > 1 ? `, ${attempts} attempts` : ''
}

function describeStatus({ status, error_code: code }: RecentRequest) {
  const color = status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good'
  return { color, word: code === null ? String(status) : `${status} ${code}` } as const
}

function describeTokens({ tokens_in: tokensIn, tokens_out: tokensOut }: RecentRequest): string {
  if (tokensIn === null) return '–'
  return `${formatCount(tokensIn)} + ${formatCount(tokensOut ?? 0)}`
}
