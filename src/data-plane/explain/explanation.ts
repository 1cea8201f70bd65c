import type { BudgetScope } from '../../core/accounts.ts'
import type { CredentialState } from '../../core/credential-state.ts'
import { type ErrorCode, type GatewayError, renderError } from '../../core/errors.ts'
import type { NanoUsd, RequestId } from '../../core/ids.ts'
import { toUsd } from '../../core/money.ts'
import type { Model } from '../../core/provider.ts'
import { readRoomName } from '../../core/room.ts'
import type { SwitchStep } from '../../core/switch.ts'
import type { DearestPrices, PromptPrice, ReservedLine } from '../../pricing/index.ts'
import type { CircuitState } from '../../resilience/index.ts'
import type { RoomReading } from '../../rooms/index.ts'
import { RawJson, stringifyJson } from '../../wire/json/raw.ts'
import type { MissingPrice } from '../request/unpriced.ts'

/** What would become of a request. */
export interface Explanation {
  /** Undefined when the request is refused before its route is known. */
  readonly route: ExplainedRoute | undefined
  /** In the order in which they are tried. */
  readonly links: readonly ExplainedLink[]
  readonly usage: MaxUsage | undefined
  readonly admission: ExplainedAdmission
  /** What the client gets before any upstream call. */
  readonly error: GatewayError | undefined
}

export interface ExplainedRoute {
  /** What the request names. */
  readonly id: string
  /** The switches that have chosen, in order; empty for most requests. */
  readonly switches: readonly SwitchStep[]
}

export interface ExplainedLink {
  readonly link: Model
  /** `parked` only when a credential is parked for this model. */
  readonly credential: CredentialState
  readonly circuit: CircuitState
  /** The limits of calls at once that hold for it, and what they have taken. */
  readonly rooms: readonly RoomReading[]
  /** The session of the request was served here last: the link, or its credential, goes first. */
  readonly pinned: boolean
  /** The name of the credential that goes first; undefined without one. */
  readonly pinnedCredential: string | undefined
  /** The fields that the link leaves out, as dotted paths. */
  readonly dropped: readonly string[]
  /** The places of the marks that the gateway sets for the cache of the vendor; undefined where it sets none. */
  readonly cacheMarks: readonly string[] | undefined
  /** What is reserved for the request on this link; undefined where it has no prices. */
  readonly reserved: ReservedPrices | undefined
  /** What the link lacks, so that the cost of the request is not known there. */
  readonly missing: MissingPrice | undefined
  /** Why the link cannot send the request. */
  readonly error: GatewayError | undefined
  readonly upstream: ExplainedCall | undefined
}

/** The prices at which a request is reserved on a link. */
export interface ReservedPrices extends DearestPrices {
  readonly amount: NanoUsd
  readonly lines: readonly ReservedLine[]
}

/** The first upstream call to a link. */
export interface ExplainedCall {
  /** With credentials masked. */
  readonly url: string
  /** The JSON text; undefined when it is too long to be shown. */
  readonly body: string | undefined
}

/** The most that a request uses. */
export interface MaxUsage {
  readonly promptTokens: number
  readonly outputTokens: number
  /** Undefined when no link has prices. */
  readonly cost: NanoUsd | undefined
}

export type ExplainedAdmission =
  | { readonly verdict: 'admitted' }
  | {
      readonly verdict: 'refused'
      readonly code: ErrorCode
      /** Of the limit or the budget that refuses; undefined when it is none of these. */
      readonly scope: BudgetScope | undefined
    }

/** Renders an explanation as JSON. The bodies of upstream calls stay as they are, byte for byte. */
export function renderExplanation(explanation: Explanation, id: RequestId): string {
  const { route, links, usage, admission, error } = explanation
  const refused = admission.verdict === 'refused' ? admission : undefined
  const show = (shown: GatewayError | undefined) => (shown ? renderError(shown, id).error : null)
  return stringifyJson({
    route: route
      ? {
          id: route.id,
          switches: route.switches.map(renderStep),
          order: links.map(({ link }) => link.id),
        }
      : null,
    links: links.map((explained) => renderLink(explained, show)),
    estimate: usage
      ? { prompt_tokens: usage.promptTokens, output_tokens: usage.outputTokens }
      : null,
    reservation: usage?.cost === undefined ? null : toUsd(usage.cost),
    admission: {
      verdict: admission.verdict,
      code: refused?.code ?? null,
      scope: refused?.scope ?? null,
    },
    error: show(error),
  })
}

function renderStep({ id, target, tried }: SwitchStep): object {
  return {
    id,
    target,
    cases: tried.map(({ target: ofCase, holds, conditions }) => ({
      target: ofCase,
      holds,
      conditions: conditions.map(({ name, value, holds: does }) => ({
        name,
        value: value ?? null,
        holds: does,
      })),
    })),
  }
}

function renderLink(
  {
    link,
    credential,
    circuit,
    rooms,
    pinned,
    pinnedCredential,
    dropped,
    cacheMarks,
    reserved,
    missing,
    error,
    upstream,
  }: ExplainedLink,
  show: (error: GatewayError | undefined) => object | null,
): object {
  return {
    model: link.id,
    pattern: link.match?.pattern ?? null,
    provider: link.provider.name,
    credential: credential.state,
    credential_detail: credential.detail,
    circuit,
    rooms: rooms.map(renderRoom),
    pinned,
    pinned_credential: pinnedCredential ?? null,
    dropped,
    cache_marks: cacheMarks ?? null,
    profile: link.chat?.profile?.origin ?? null,
    prompt_price: reserved ? priceSettings[reserved.promptPrice] : null,
    price: reserved?.label ?? null,
    reservation: reserved ? toUsd(reserved.amount) : null,
    lines: (reserved?.lines ?? []).map(renderLine),
    unpriced: missing ? { missing: missing.what, setting: missing.setting } : null,
    tools: (reserved?.tools ?? []).map(({ name, calls, isBounded }) => ({
      name,
      calls,
      bounded: isBounded,
    })),
    error: show(error),
    upstream: upstream ? renderCall(upstream) : null,
  }
}

function renderRoom({ name, maxParallel, running, queueMax, waiting }: RoomReading): object {
  const [, model] = readRoomName(name)
  const scope = model === undefined ? 'provider' : 'model'
  return { scope, max_parallel: maxParallel, running, queue_max: queueMax, waiting }
}

/** As `GET /admin/usage/rows` has the lines of a cost. */
function renderLine({ name, count, price, per, cost, label, isBounded }: ReservedLine): object {
  return {
    name,
    count,
    price: toUsd(price),
    per,
    // From millionths of a nano-dollar.
    cost: Number(cost) / 1e15,
    price_entries: label ?? null,
    bounded: isBounded,
  }
}

/** The settings of the prices that a prompt may have. */
const priceSettings: Readonly<Record<PromptPrice, string>> = {
  input: 'cost_per_1m_input',
  cachedInput: 'cost_per_1m_cached_input',
  cacheWrite: 'cost_per_1m_cache_write',
  cacheWrite1h: 'cost_per_1m_cache_write_1h',
  cacheWrite12h: 'cost_per_1m_cache_write_12h',
  audioInput: 'cost_per_1m_audio_input',
  imageInput: 'cost_per_1m_image_input',
  videoInput: 'cost_per_1m_video_input',
  cachedAudioInput: 'cost_per_1m_cached_audio_input',
}

function renderCall({ url, body }: ExplainedCall): object {
  return { url, body: body === undefined ? null : new RawJson(body) }
}
