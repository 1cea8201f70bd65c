import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { change } from './api.ts'
import { formatDuration, formatUsd } from './format.ts'
import type { CheckedCredential, CheckedProvider } from './shapes.ts'
import { State, type StateProps } from './state-word.tsx'

type Check =
  | { readonly state: 'running' }
  | { readonly state: 'done'; readonly checked: CheckedProvider }
  | { readonly state: 'failed'; readonly message: string }

interface ProviderRowProps {
  readonly name: string
  readonly word: StateProps
  readonly children: ComponentChildren
}

/** A provider with its state, and a button that sends a request with each of its credentials. */
export function ProviderRow({ name, word, children }: ProviderRowProps) {
  const check = useSignal<Check | undefined>(undefined)
  const start = async () => {
    check.value = { state: 'running' }
    check.value = await askProvider(name)
  }
  return (
    <li>
      <div class="row-head provider">
        <strong class="cut" title={name}>
          {name}
        </strong>
        <State {...word} />
        <button
          type="button"
          class="quiet small"
          title="Sends the smallest request with each credential; the vendor charges it"
          disabled={check.value?.state === 'running'}
          onClick={start}
        >
          Check<span class="visually-hidden"> {name}</span>
        </button>
      </div>
      {children}
      <div role="status">{check.value && <Result check={check.value} />}</div>
    </li>
  )
}

async function askProvider(name: string): Promise<Check> {
  const path = `/admin/providers/${encodeURIComponent(name)}/check`
  try {
    return { state: 'done', checked: await change<CheckedProvider>('POST', path) }
  } catch (error) {
    return { state: 'failed', message: error instanceof Error ? error.message : String(error) }
  }
}

function Result({ check }: { readonly check: Check }) {
  switch (check.state) {
    case 'running':
      return <p class="reason">asking the provider…</p>
    case 'failed':
      return <p class="reason">the check failed: {check.message}</p>
    case 'done':
      return (
        <ul class="checked">
          {check.checked.credentials.map((one) => (
            <li key={one.credential} class="reason">
              <State {...describeCredential(one)} />{' '}
              {one.credential !== 'none' && <code>{one.credential}</code>} with{' '}
              <code>{check.checked.model}</code>
              {describeProof(one)}
            </li>
          ))}
        </ul>
      )
    default:
      return check satisfies never
  }
}

/** The first that is wrong, in the order in which it has to be put right. */
function describeCredential(checked: CheckedCredential): StateProps {
  const { reachable, authenticated } = checked
  if (reachable === null && authenticated === false) return { color: 'bad', word: 'not asked' }
  if (reachable === false) return { color: 'bad', word: 'not reachable' }
  if (authenticated === false) return { color: 'bad', word: 'refused' }
  if (checked.model_known === false) return { color: 'bad', word: 'model unknown' }
  return checked.error === null
    ? { color: 'good', word: 'works' }
    : { color: 'warn', word: 'failed' }
}

function describeProof({ first_token_ms: first, cost, error }: CheckedCredential): string {
  if (error !== null) return `: ${error}`
  const parts = [
    first === null ? undefined : `first token after ${formatDuration(first)}`,
    cost === null ? undefined : formatUsd(cost),
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? '' : `: ${parts.join(', ')}`
}
