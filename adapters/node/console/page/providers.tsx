import { formatSpan } from './format.ts'
import { ProviderRow } from './provider-check.tsx'
import type {
  Circuit,
  CredentialState,
  ParkedCredential,
  ProviderHealth,
  Room,
  Status,
} from './shapes.ts'
import type { StateProps } from './state-word.tsx'

interface ProvidersProps {
  readonly status: Status
}

/** Each provider with its credentials and circuits; what keeps requests from it comes with the reason. */
export function Providers({ status }: ProvidersProps) {
  const { providers, circuits, credentials, rooms, parked_credentials: allParked, now } = status
  return (
    <section class="panel">
      <h2>Providers</h2>
      <ul class="rows">
        {Object.entries(providers).map(([name, health]) => {
          const own = circuits.filter(({ provider }) => provider === name)
          const parked = allParked.filter(({ provider }) => provider === name)
          const credential = credentials[name]
          return (
            <ProviderRow
              key={name}
              name={name}
              word={describeProvider({ health, circuits: own, credential })}
            >
              {credential && <CredentialLine credential={credential} />}
              {parked.map((each) => (
                <ParkedLine key={`${each.credential} ${each.model}`} parked={each} now={now} />
              ))}
              {own.filter(needsWords).map((circuit) => (
                <CircuitLine key={circuit.model} circuit={circuit} now={now} />
              ))}
              {rooms
                .filter(({ provider, running }) => provider === name && running > 0)
                .map((room) => (
                  <RoomLine key={room.model} room={room} />
                ))}
              {health.detail !== null && <p class="reason">probe: {health.detail}</p>}
            </ProviderRow>
          )
        })}
      </ul>
    </section>
  )
}

interface ProviderParts {
  readonly health: ProviderHealth
  readonly circuits: readonly Circuit[]
  readonly credential: CredentialState | undefined
}

/** The worst first: without a credential no request is sent at all. */
function describeProvider({ health, circuits, credential }: ProviderParts): StateProps {
  const { status } = health
  if (credential?.state === 'missing') return { color: 'bad', word: 'no credential' }
  const open = circuits.filter(({ state }) => state === 'open').length
  if (open > 0) return { color: 'bad', word: open === 1 ? 'circuit open' : `${open} circuits open` }
  if (status === 'down') return { color: 'bad', word: 'down' }
  if (credential?.state === 'parked') return { color: 'warn', word: 'all credentials parked' }
  if (credential?.state === 'partial') return { color: 'warn', word: 'credential missing' }
  if (circuits.some(({ state }) => state === 'half-open')) {
    return { color: 'warn', word: 'circuit half-open' }
  }
  if (status === 'up') return { color: 'good', word: 'up' }
  return circuits.length > 0
    ? { color: 'good', word: 'in use' }
    : { color: 'none', word: 'not used yet' }
}

function CredentialLine({ credential }: { readonly credential: CredentialState }) {
  const { state, detail } = credential
  if (state === 'partial') return <p class="reason">{detail}</p>
  return state === 'missing' ? (
    <p class="reason">{detail}, so every request to this provider fails</p>
  ) : null
}

interface ParkedProps {
  readonly parked: ParkedCredential
  /** Unix seconds. */
  readonly now: number
}

function ParkedLine({ parked, now }: ParkedProps) {
  const { credential, model, reason, until } = parked
  return (
    <p class="reason">
      <code>{credential}</code> {reason === 'refused' ? 'refused' : 'rate limited'}
      {model !== null && ` for ${model}`}, parked for another {formatSpan(Math.max(0, until - now))}
    </p>
  )
}

function RoomLine({ room }: { readonly room: Room }) {
  const { model, running, waiting, max_parallel: max } = room
  return (
    <p class="reason">
      {model !== null && <code>{model}</code>} {running} of {max} calls at once
      {waiting > 0 && `, ${waiting} waiting`}
    </p>
  )
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
      <code>{model}</code> {describeCircuit(state)}
      {failure && `${failure.reason} ${formatSpan(Math.max(0, now - failure.at))} ago`}
    </p>
  )
}

function describeCircuit(state: Circuit['state']): string {
  switch (state) {
    case 'closed':
      return ''
    case 'open':
      return 'circuit open, '
    case 'half-open':
      return 'circuit half-open, so the next request tries it; '
    default:
      return state satisfies never
  }
}
