import type { Account, BudgetScope } from './accounts.ts'
import type { BudgetTerm } from './budget-period.ts'
import type { Api } from './capability.ts'
import type { OutputEstimate } from './chat.ts'
import type { NanoUsd, RequestId } from './ids.ts'
import type { CacheLife } from './layout.ts'
import type { RequestOrigin } from './origin.ts'
import { asHeaderList, type HeaderList } from './ports.ts'
import type { PriceAsk } from './price-table.ts'
import type { Model } from './provider.ts'
import type { Priority } from './room.ts'
import type { ModelRoute, NamedRoute } from './route.ts'

/** Upper estimate of what a request will use, made before any upstream call. */
export interface UsageEstimate {
  /** Estimated tokens of the prompt. */
  readonly promptTokens: number
  /** How long vendors are asked to keep the prompt; absent where no vendor has a cache of prompts. */
  readonly cacheLife?: CacheLife | undefined
  /** Estimates the output of a link; absent where nothing is generated. */
  readonly output?: (link: Model) => OutputEstimate
  /** The unit that rerank is billed by; absent for other capabilities. */
  readonly searchUnits?: number
  /** Absent where the prices of no link depend on it. */
  readonly ask?: PriceAsk | undefined
}

/** A request whose admission is only previewed. */
export interface PreviewAsk {
  readonly route: ModelRoute
  /** Called only when a limit needs it. */
  readonly estimate: () => UsageEstimate
}

/** A request that asks for admission. */
export interface AdmissionAsk extends PreviewAsk {
  readonly id: RequestId
  /** What the request names, where a switch has chosen the route. */
  readonly named?: NamedRoute | undefined
  readonly api: Api
  readonly stream: boolean
}

/** The authenticated sender of a request. */
export interface Principal {
  /** The account that a request admitted now is charged to; undefined where nothing is charged. */
  readonly account: Account | undefined
  /** The key, or its group, has a budget with a cap. */
  readonly hasCap: boolean
  /** Which requests go first where they wait for an upstream. */
  readonly priority: Priority
  /**
   * The spent part of the budget of the key or of its group, whichever is larger, without what running requests
   * reserve; 1 when all of it is spent. Undefined without a cap.
   */
  readonly budgetUsed: number | undefined
  /** Whether the sender may use a model. Its fallbacks serve without being allowed themselves. */
  mayUse(model: string): boolean
  /** Whose list of models leaves a model out; undefined when the sender may use it. */
  findRefusingList(model: string): BudgetScope | undefined
  /**
   * Whether `admit` would estimate a request now. False for one that is refused before: then nothing needs to be
   * prepared for it.
   */
  readonly needsEstimate: boolean
  /**
   * Admits a request, or throws LM-4002, LM-4003, LM-4006 or LM-4001; LM-5003 when the shared state that it
   * needs cannot be used. A refusal changes no count. The caller must end the admission.
   */
  admit(ask: AdmissionAsk): Admission | Promise<Admission>
  /** Throws what `admit` would throw now. Changes no count, and reports nothing. */
  previewAdmission(ask: PreviewAsk): void | Promise<void>
  /**
   * Admits a request that is answered from the cache, or throws LM-4002: it counts as a request, but takes
   * no tokens and no budget. The caller must end the admission.
   */
  admitHit(): Admission | Promise<Admission>
}

/** The admission of one request. It ends exactly once: with `settle` or `withdraw`. */
export interface Admission {
  /** Response headers with the remainder of the principal's limits. */
  readonly headers: HeaderList
  /** The terms of the budgets that are charged; undefined where nothing is. */
  readonly keyTerm: BudgetTerm | undefined
  readonly groupTerm: BudgetTerm | undefined
  /** What is reserved of budgets with a cap; undefined where there is none. */
  readonly reserved: NanoUsd | undefined
  /** Releases the reservation and charges the cost. Only the first end counts. */
  settle(end: AdmissionOutcome): void
  /** Undoes the admission: nothing is charged or counted. Only the first end counts. */
  withdraw(): void
  /**
   * Reserves an amount beside what the request already reserves, for another call behind one that has failed and
   * is charged. Reserves nothing, or all of it. Never rejects.
   */
  extend(cost: NanoUsd): Extension | Promise<Extension>
  /** Charges the difference after an exact count has replaced an estimate. Called after `settle`. */
  adjust(cost: NanoUsd): void
}

/** `no-room`: a budget has too little left. `unavailable`: the shared state that decides it cannot be used. */
export type Extension = 'reserved' | 'no-room' | 'unavailable'

export interface AdmissionOutcome {
  readonly cost: NanoUsd
  /** Tokens for the TPM limit, in place of the estimated debit; undefined keeps the debit. */
  readonly tokens: number | undefined
}

/** Identifies the senders of requests. */
export interface Authenticator {
  /** Throws LM-4004, always with the same message, unless the request has a valid key. */
  authenticate(request: Request, origin: RequestOrigin): Principal
}

const admitted: Admission = Object.freeze({
  headers: asHeaderList([]),
  keyTerm: undefined,
  groupTerm: undefined,
  reserved: undefined,
  settle() {},
  withdraw() {},
  extend: () => 'reserved',
  adjust() {},
})

const anonymous: Principal = Object.freeze({
  account: undefined,
  hasCap: false,
  priority: 'normal',
  budgetUsed: undefined,
  mayUse: () => true,
  findRefusingList: () => undefined,
  needsEstimate: false,
  admit: () => admitted,
  previewAdmission() {},
  admitHit: () => admitted,
})

/** Lets everyone in: every request is admitted, and nothing is charged. So it is without auth. */
export const noAuth: Authenticator = Object.freeze({ authenticate: () => anonymous })
