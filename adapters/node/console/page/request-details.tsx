import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy-button.tsx'
import { formatCount, formatDateTime, formatDuration, formatUsd } from './format.ts'
import { linkTo } from './place.ts'
import type { RecentRequest } from './shapes.ts'
import { names } from './state.ts'

interface DetailsProps {
  readonly request: RecentRequest
}

/** What is known of a request: its facts, its links with their failures, and the refusal. Never its content. */
export function RequestDetails({ request }: DetailsProps) {
  return (
    <div class="details">
      <p class="id">
        <code>{request.request_id}</code>
        <CopyButton text={request.request_id} name="the id of the request" />
      </p>
      <Facts request={request} />
      <Links request={request} />
      {request.count > 1 && (
        <p>
          The row stands for {formatCount(request.count)} requests like it, which came in one
          second.
        </p>
      )}
      {request.error_code !== null && (
        <p>
          answered with <code>{request.error_code}</code>
          {request.reason !== null && `: ${request.reason}`}
        </p>
      )}
      <Neighbours request={request} />
    </div>
  )
}

function Facts({ request }: DetailsProps) {
  const { ttft_ms: ttft, queued_ms: queued, estimated, group_id: groupId } = request
  const { tokens_in: tokensIn, tokens_out: tokensOut } = request
  return (
    <dl class="facts">
      <Fact name="Ended">{formatDateTime(request.ts)}</Fact>
      <Fact name="API">
        {request.api}
        {request.stream && ', streamed'}
      </Fact>
      {ttft !== null && <Fact name="First token">after {formatDuration(ttft)}</Fact>}
      <Fact name="Whole answer">{formatDuration(request.latency_ms)}</Fact>
      {queued != null && <Fact name="Waited for room">{formatDuration(queued)}</Fact>}
      {tokensIn !== null && (
        <Fact name={estimated ? 'Tokens, estimated' : 'Tokens'}>
          {formatCount(tokensIn)} in, {formatCount(tokensOut ?? 0)} out
        </Fact>
      )}
      <Fact name="Cost">
        {request.cache_hit ? 'none, from the cache' : formatUsd(request.cost)}
      </Fact>
      {groupId !== null && (
        <Fact name="Group">{names.value.get(groupId) ?? groupId.slice(0, 8)}</Fact>
      )}
    </dl>
  )
}

interface FactProps {
  readonly name: string
  readonly children: ComponentChildren
}

/** A name and what it has, in a list of them. */
export function Fact({ name, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Links({ request }: DetailsProps) {
  const { failed } = request
  return (
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
  )
}

/** The link that answered. One whose stream broke is among the failed links. */
function LastLink({ request }: DetailsProps) {
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

/** Links to the requests that have something in common with this one. */
function Neighbours({ request }: DetailsProps) {
  const { key_id: keyId, model } = request
  if (keyId === null && model === null) return null
  return (
    <p class="neighbours">
      {keyId !== null && <a href={linkTo('requests', { key: keyId })}>All requests of this key</a>}
      {model !== null && <a href={linkTo('requests', { model })}>All requests for this model</a>}
    </p>
  )
}
