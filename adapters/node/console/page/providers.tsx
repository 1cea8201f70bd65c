import { formatSpan } from './format.ts'
import type { Circuit, ProviderHealth, Status } from './shapes.ts'

interface ProvidersProps {
  readonly status: Status
}

/** Each provider with its circuits; those that are not closed come with the reason. */
export function Providers({ status: { providers, circuits, now } }: ProvidersProps) {
  return (
    <section class="panel">
      <h2>Providers</h2>
      <ul class="rows">
        {Object.entries(providers).map(([name, health]) => {
          const own = circuits.filter(({ provider }) => provider === name)
          return (
            <li key={name}>
              <div class="row-head">
                <strong>{name}</strong>
                <State {...describeProvider(health, own)} />
              </div>
              {own.filter(needsWords).map((circuit) => (
                <CircuitLine key={circuit.model} circuit={circuit} now={now} />
              ))}
              {health.detail !== null && <p class="reason">probe: {health.detail}</p>}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

interface StateProps {
  readonly color: 'good' | 'warn' | 'bad' | 'none'
  readonly word: string
}

/** A state in a word, with a color beside it. */
export function State({ color, word }: StateProps) {
  return (
    <span class={`state ${color}`}>
      <span class={`dot ${color}`} />
      {word}
    </span>
  )
}

function describeProvider({ status }: ProviderHealth, circuits: readonly Circuit[]): StateProps {
  const open = circuits.filter(({ state }) => state === 'open').length
  if (open > 0) return { color: 'bad', word: open === 1 ? 'circuit open' : `${open} circuits open` }
  if (status === 'down') return { color: 'bad', word: 'down' }
  if (circuits.some(({ state }) => state === 'half-open')) {
    return { color: 'warn', word: 'circuit half-open' }
  }
  if (status === 'up') return { color: 'good', word: 'up' }
  return circuits.length > 0
    ? { color: 'good', word: 'in use' }
    : { color: 'none', word: 'not used yet' }
}

function needsWords({ state, last_failure: failure }: Circuit): boolean {
  return state !== 'closed' || failure !== null
}

interface CircuitProps {
  readonly circuit: Circuit
  /** Unix seconds. */
  readonly now: number
}

function CircuitLine({ circuit, now }: CircuitProps) {
  const { model, state, last_failure: failure } = circuit
  return (
    <p class="reason">
      <code>{model}</code> {state === 'closed' ? '' : `circuit ${state}, `}
      {failure && `${failure.reason} ${formatSpan(Math.max(0, now - failure.at))} ago`}
    </p>
  )
}
