import type { CredentialState } from '../core/credential-state.ts'
import type { Millis, UnixSeconds } from '../core/ids.ts'
import type { ModelListReport } from '../core/model-list.ts'
import { toUsd } from '../core/money.ts'
import type { Clock } from '../core/ports.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import { readRoomName } from '../core/room.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import { version } from '../core/version.ts'
import type { Topic, Workers } from '../core/workers.ts'
import { type HealthReport, mergeHealthReports } from '../health/index.ts'
import {
  findQuantile,
  joinMinutes,
  type LastFailure,
  type MinuteTotal,
  type RecentRequests,
} from '../records/index.ts'
import type { RoomReading } from '../rooms/index.ts'
import { findWorseCircuit } from './circuit.ts'
import type { AdminRoutes } from './input.ts'

/** The circuit of one link. */
export interface Circuit {
  readonly provider: string
  readonly model: string
  readonly state: string
}

/** A provider that has several credentials, and those of them that are parked. */
export interface CredentialPool {
  readonly provider: string
  readonly parked: readonly {
    readonly credential: string
    /** Undefined for all models. */
    readonly model: string | undefined
    readonly reason: string
    readonly remaining: Millis
  }[]
}

/** By the name of the provider. */
export type CredentialStates = Readonly<Record<string, CredentialState>>

export interface RoomReadings {
  /** They hold over several processes, which then read the same. */
  readonly areShared: boolean
  readonly readings: readonly RoomReading[]
}

export interface StatusRouteDeps {
  readonly clock: Clock
  readonly recent: Pick<RecentRequests, 'startedAt' | 'listMinutes' | 'findLastFailure'>
  readonly flushRecords: () => void
  readonly inFlight: () => number
  /** The sessions that are remembered. */
  readonly pins: () => number
  /** The circuits that have been used. */
  readonly circuits: () => Iterable<Circuit>
  readonly pools: () => Iterable<CredentialPool>
  /** What the limits of calls at once have taken, in the order of the configuration. */
  readonly rooms: () => RoomReadings | Promise<RoomReadings>
  /** The lists of models of providers that are asked for them. */
  readonly modelLists: () => readonly ModelListReport[]
  /** The state of each provider's credentials, in the order of the configuration. */
  readonly credentials: () => CredentialStates
  /** What this worker knows of its providers. */
  readonly health: () => HealthReport
  readonly workers: Workers
}

/** What happens in one process. */
interface StatusReport {
  readonly startedAt: UnixSeconds
  readonly inFlight: number
  readonly pins: number
  readonly health: HealthReport
  readonly circuits: readonly CircuitReport[]
  readonly rooms: RoomReadings
  readonly credentials: CredentialStates
  readonly parked: readonly ParkedCredential[]
  readonly modelLists: readonly ModelListReport[]
  readonly minutes: readonly MinuteTotal[]
}

interface CircuitReport extends Circuit {
  readonly last_failure: LastFailure | null
}

type ParkedCredential = ReturnType<typeof renderParked>[number]

const statusTopic: Topic<undefined, StatusReport> = { name: 'status' }

/** The read-only route of what happens now. */
export function statusRoutes(deps: StatusRouteDeps): AdminRoutes {
  const { clock, workers } = deps
  workers.answer(statusTopic, () => reportStatus(deps))
  const show = async () => {
    const reports = await workers.ask(statusTopic, undefined)
    return renderStatus(reports, unixSeconds(clock))
  }
  return { '/admin/status': { GET: show } }
}

async function reportStatus(deps: StatusRouteDeps): Promise<StatusReport> {
  const { clock, recent, flushRecords, inFlight, pins, circuits, pools, credentials, health } = deps
  const rooms = await deps.rooms()
  flushRecords()
  return {
    startedAt: recent.startedAt,
    inFlight: inFlight(),
    pins: pins(),
    health: health(),
    circuits: Array.from(circuits(), ({ provider, model, state }) => ({
      provider,
      model,
      state,
      last_failure: recent.findLastFailure(provider, model) ?? null,
    })),
    rooms,
    credentials: credentials(),
    modelLists: deps.modelLists(),
    parked: Array.from(pools()).flatMap((pool) => renderParked(pool, clock)),
    minutes: recent.listMinutes(),
  }
}

/** Renders what happens in all workers together. */
function renderStatus(reports: readonly StatusReport[], now: UnixSeconds): Reply {
  return jsonReply({
    version,
    started_at: Math.min(...reports.map(({ startedAt }) => startedAt)),
    now,
    in_flight: reports.reduce((sum, { inFlight }) => sum + inFlight, 0),
    // Every worker learns the pins of the others.
    pins: Math.max(...reports.map(({ pins }) => pins)),
    ...mergeHealthReports(reports.map(({ health }) => health)),
    credentials: joinCredentials(reports.map(({ credentials }) => credentials)),
    circuits: joinBy(
      reports.flatMap(({ circuits }) => circuits),
      ({ provider, model }) => JSON.stringify([provider, model]),
      joinCircuits,
    ),
    rooms: joinRooms(reports.map(({ rooms }) => rooms)).map(renderRoom),
    parked_credentials: joinBy(
      reports.flatMap(({ parked }) => parked),
      ({ provider, credential, model }) => JSON.stringify([provider, credential, model]),
      joinParked,
    ),
    model_lists: Object.fromEntries(
      joinBy(
        reports.flatMap(({ modelLists }) => modelLists),
        ({ provider }) => provider,
        joinModelLists,
      ).map(renderModelList),
    ),
    minutes: joinBy(
      reports.flatMap(({ minutes }) => minutes),
      ({ startsAt }) => startsAt,
      joinMinutes,
    ).map(renderMinute),
  })
}

/** The worst first. */
const credentialStates = ['missing', 'parked', 'partial', 'present', 'not_needed'] as const

/** Takes the worst state of each provider: a cloud may have given a credential to one worker only. */
function joinCredentials(reports: readonly CredentialStates[]): CredentialStates {
  const rank = ({ state }: CredentialState) => credentialStates.indexOf(state)
  const joined: Record<string, CredentialState> = {}
  for (const [provider, found] of reports.flatMap((report) => Object.entries(report))) {
    const known = joined[provider]
    if (known === undefined || rank(found) < rank(known)) joined[provider] = found
  }
  return joined
}

/** Joins the items with the same key, in the order in which the keys first come. */
function joinBy<Item, Key>(
  items: readonly Item[],
  getKey: (item: Item) => Key,
  join: (a: Item, b: Item) => Item,
): readonly Item[] {
  const joined = new Map<Key, Item>()
  for (const item of items) {
    const key = getKey(item)
    const known = joined.get(key)
    joined.set(key, known === undefined ? item : join(known, item))
  }
  return [...joined.values()]
}

function joinCircuits(a: CircuitReport, b: CircuitReport): CircuitReport {
  const [failureA, failureB] = [a.last_failure, b.last_failure]
  const isBLater = (failureB?.at ?? 0) > (failureA?.at ?? 0)
  return {
    ...a,
    state: findWorseCircuit(a.state, b.state),
    last_failure: isBLater ? failureB : failureA,
  }
}

/** Each worker has a part of a limit that is not shared. */
function joinRooms(reports: readonly RoomReadings[]): readonly RoomReading[] {
  const [first] = reports
  if (first?.areShared) return first.readings
  return joinBy(
    reports.flatMap(({ readings }) => readings),
    ({ name }) => name,
    (a, b) => ({
      ...a,
      maxParallel: a.maxParallel + b.maxParallel,
      queueMax: a.queueMax + b.queueMax,
      running: a.running + b.running,
      waiting: a.waiting + b.waiting,
    }),
  )
}

function renderRoom({ name, maxParallel, running, queueMax, waiting }: RoomReading) {
  const [provider, model = null] = readRoomName(name)
  return { provider, model, max_parallel: maxParallel, running, queue_max: queueMax, waiting }
}

/** Takes the one that is parked longer. */
function joinParked(a: ParkedCredential, b: ParkedCredential): ParkedCredential {
  return b.until <= a.until ? a : b
}

/** Takes the older list: each worker reads by itself. */
function joinModelLists(a: ModelListReport, b: ModelListReport): ModelListReport {
  const older = (b.listedAt ?? 0) < (a.listedAt ?? 0) ? b : a
  return { ...older, failure: older.failure ?? a.failure ?? b.failure }
}

function renderModelList({ provider, models, listedAt, failure }: ModelListReport) {
  const list = { models: models ?? null, listed_at: listedAt ?? null, failure: failure ?? null }
  return [provider, list] as const
}

function renderParked({ provider, parked }: CredentialPool, clock: Clock) {
  return parked.map(({ credential, model = null, reason, remaining }) => ({
    provider,
    credential,
    model,
    reason,
    until: Math.ceil((clock.now() + remaining) / 1000),
  }))
}

function renderMinute(total: MinuteTotal): object {
  return {
    starts_at: total.startsAt,
    requests_ok: total.ok,
    requests_client_error: total.clientErrors,
    requests_server_error: total.serverErrors,
    tokens_in: total.tokensIn,
    tokens_out: total.tokensOut,
    cost: toUsd(total.cost),
    latency_p50_ms: findQuantile(total.latencies, 0.5) ?? null,
    latency_p95_ms: findQuantile(total.latencies, 0.95) ?? null,
  }
}
