import type { Account } from '../core/accounts.ts'
import type { Admission, Principal, UsageEstimate } from '../core/admission.ts'
import type { Clock } from '../core/ports.ts'
import type { ModelRoute } from '../core/route.ts'
import type { AccountEntry, GroupEntry, KeyEntry } from './account-entry.ts'
import { admit, previewAdmission } from './admission.ts'
import type { AdmissionRequest } from './admission-request.ts'
import type { BudgetObserver } from './budget-observer.ts'
import { admitHit } from './hit-admission.ts'

/** What every key principal needs for an admission. */
export interface AdmissionDeps {
  readonly clock: Clock
  readonly observer: BudgetObserver
  /** Output tokens that a reservation assumes where the request and the model set no bound. */
  readonly reserveOutputTokens: () => number
  /** The key's group; undefined without one, and when it is unknown or deleted. */
  findGroup(key: KeyEntry): GroupEntry | undefined
}

/** The sender of a request that came with a virtual key. */
export class KeyPrincipal implements Principal {
  readonly #key: KeyEntry
  readonly #deps: AdmissionDeps

  constructor(key: KeyEntry, deps: AdmissionDeps) {
    this.#key = key
    this.#deps = deps
  }

  get account(): Account {
    const group = this.#deps.findGroup(this.#key)
    return { keyId: this.#key.record.id, groupId: group?.record.id ?? null }
  }

  mayUse(model: string): boolean {
    const group = this.#deps.findGroup(this.#key)
    return isAllowed(this.#key, model) && (!group || isAllowed(group, model))
  }

  admit(route: ModelRoute, estimate: () => UsageEstimate): Admission {
    return admit(this.#ask(route, estimate))
  }

  previewAdmission(route: ModelRoute, estimate: () => UsageEstimate): void {
    previewAdmission(this.#ask(route, estimate))
  }

  admitHit(): Admission {
    return admitHit({ accounts: this.#accounts, now: this.#deps.clock.now() })
  }

  #ask(route: ModelRoute, estimate: () => UsageEstimate): AdmissionRequest {
    return {
      accounts: this.#accounts,
      route,
      estimate,
      now: this.#deps.clock.now(),
      reserveOutputTokens: this.#deps.reserveOutputTokens(),
      observer: this.#deps.observer,
    }
  }

  get #accounts(): readonly AccountEntry[] {
    const group = this.#deps.findGroup(this.#key)
    return group ? [this.#key, group] : [this.#key]
  }
}

function isAllowed({ record: { models } }: AccountEntry, id: string): boolean {
  return models === null || models.some((allowed) => matches(allowed, id))
}

function matches(allowed: string, id: string): boolean {
  return allowed.endsWith('*') ? id.startsWith(allowed.slice(0, -1)) : id === allowed
}
