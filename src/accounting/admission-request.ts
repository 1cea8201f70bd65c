import type { UsageEstimate } from '../core/admission.ts'
import type { Api } from '../core/capability.ts'
import type { Millis, RequestId } from '../core/ids.ts'
import type { ModelRoute, NamedRoute } from '../core/route.ts'
import type { AccountEntry } from './account-entry.ts'
import type { BudgetObserver } from './budget-observer.ts'

/** A request whose admission is checked. */
export interface CheckedRequest {
  /**
   * The key, and the group that it is in now. The request is charged to the group even if the key
   * leaves it.
   */
  readonly accounts: readonly AccountEntry[]
  readonly route: ModelRoute
  /** Called only when a limit or a cap needs it. */
  readonly estimate: () => UsageEstimate
  readonly now: Millis
  readonly reserveOutputTokens: number
  readonly observer: Pick<BudgetObserver, 'turned' | 'refused'>
}

/** A request whose admission is only previewed. */
export interface PreviewRequest extends CheckedRequest {
  readonly observer: BudgetObserver
}

/** A request that asks for admission. */
export interface AdmissionRequest extends PreviewRequest {
  readonly id: RequestId
  /** What the request names; absent where that is the route. */
  readonly named?: NamedRoute | undefined
  readonly api: Api
  readonly stream: boolean
}

/** A request that is answered from the cache, and the accounts that it counts for. */
export interface HitRequest {
  readonly accounts: readonly AccountEntry[]
  readonly now: Millis
}
