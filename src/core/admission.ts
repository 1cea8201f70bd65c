import type { Account } from './accounts.ts'
import type { OutputEstimate } from './chat.ts'
import type { NanoUsd } from './ids.ts'
import type { RequestOrigin } from './origin.ts'
import type { HeaderList } from './ports.ts'
import type { Model, ModelRoute } from './provider.ts'

/** What a request may use, as far as it can be told before any upstream call. */
export interface UsageEstimate {
  /** The estimate of its prompt. */
  readonly promptTokens: number
  /** What it may make a link write; absent where nothing is generated. */
  readonly output?: (link: Model) => OutputEstimate
  /** What rerank is billed by; absent for everything else. */
  readonly searchUnits?: number
}

/** Who sends a request, once that has been found out. */
export interface Principal {
  /** Who would be charged if the request were admitted now; undefined where nobody is. */
  readonly account: Account | undefined
  /**
   * Admits a request or throws LM-4002, LM-4003 or LM-4001; a refusal leaves no trace. `demand` is
   * asked only where some limit needs it. Whoever is given the admission ends it.
   */
  admit(route: ModelRoute, demand: () => UsageEstimate): Admission
}

/** A request that was let in. It ends exactly once: through `settle` or `withdraw`. */
export interface Admission {
  /** Response headers that tell what is left of the caller's limits. */
  readonly headers: HeaderList
  /** Frees what was reserved and charges what was used. Only the first end counts. */
  settle(end: AdmissionOutcome): void
  /** Takes everything back, as though the request had never been let in. Only the first end counts. */
  withdraw(): void
  /** After `settle`: an exact count has replaced an estimate, and the difference is charged. */
  adjust(cost: NanoUsd): void
}

export interface AdmissionOutcome {
  readonly cost: NanoUsd
  /** What counts against the tokens a minute; undefined leaves the debit as it is. */
  readonly tokens: number | undefined
}

/** Finds out who sends a request. */
export interface Authenticator {
  /** Throws LM-4004, always the same one, when the request shows no key that is in force. */
  authenticate(request: Request, origin: RequestOrigin): Principal
}

const admitted: Admission = Object.freeze({
  headers: Object.freeze([]),
  settle() {},
  withdraw() {},
  adjust() {},
})

const anonymous: Principal = Object.freeze({ account: undefined, admit: () => admitted })

/** Without auth: everybody may do everything, and nobody is charged. */
export const noAuth: Authenticator = Object.freeze({ authenticate: () => anonymous })
