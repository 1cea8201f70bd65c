import { useComputed } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Served } from './completion.ts'
import { retry, running, type Turn } from './conversation.ts'
import { formatDuration, formatUsd, formatWhole } from './format.ts'
import { Markdown } from './markdown.tsx'
import { linkTo } from './place.ts'
import { requests } from './state.ts'

/** A question, its answer, and what became of it. */
export function ChatTurn({ turn }: { readonly turn: Turn }) {
  const { question, answer, state, problem, served } = turn
  return (
    <li class="turn">
      <p class="said asked">{question}</p>
      {(answer !== '' || state === 'running') && (
        <div class="said">{answer === '' ? '…' : <Markdown text={answer} keepsLines />}</div>
      )}
      {state === 'failed' && (
        <div class="failed" role="alert">
          <p class="problem">{problem}</p>
          <p class="hint">This turn is no part of the conversation.</p>
        </div>
      )}
      {state === 'stopped' && <p class="hint">You stopped this answer.</p>}
      {state !== 'running' && (
        <p class="outcome">
          {served && <Outcome served={served} />}
          {state !== 'done' && (
            <button
              type="button"
              class="link"
              disabled={running.value !== undefined}
              onClick={() => void retry(turn)}
            >
              Retry
            </button>
          )}
        </p>
      )}
    </li>
  )
}

function Outcome({ served }: { readonly served: Served }) {
  const { requestId, model, provider, attempts, tokens, elapsedMs, firstTextMs } = served
  const cost = useCost(requestId)
  const { finishReason: reason } = served
  const parts = [
    `${model} by ${provider}`,
    attempts > 1 ? `${attempts} attempts` : undefined,
    tokens === undefined ? undefined : `${formatWhole(tokens)} tokens`,
    firstTextMs === undefined ? undefined : `first text after ${formatDuration(firstTextMs)}`,
    `${formatDuration(elapsedMs)} in all`,
    cost === undefined ? undefined : formatUsd(cost),
    reason === undefined ? undefined : (endings[reason] ?? `ended with ${reason}`),
  ].filter((part) => part !== undefined)
  return (
    <>
      <span>{parts.join(' · ')}</span>
      <a href={linkTo('requests', { q: requestId })}>Request</a>
    </>
  )
}

/** What the usual reasons to stop mean. */
const endings: Readonly<Record<string, string>> = {
  stop: 'complete',
  length: 'cut off at the limit of tokens',
  content_filter: 'stopped by a filter of the vendor',
}

/** The cost of a request, once the gateway reports it. It stays when the request leaves the list. */
function useCost(requestId: string): number | undefined {
  const known = useRef<number>(undefined)
  const found = useComputed(
    () => requests.value.find(({ request_id: id }) => id === requestId)?.cost,
  )
  known.current ??= found.value
  return known.current
}
