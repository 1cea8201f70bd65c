import type { Account } from '../core/accounts.ts'
import type { Admission, Principal, UsageEstimate } from '../core/admission.ts'
import type { Clock } from '../core/ports.ts'
import type { ModelRoute } from '../core/route.ts'
import type { AccountEntry, GroupEntry, KeyEntry } from './account-entry.ts'
import { admit } from './admission.ts'
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
    const group = this.#deps.findGroup(this.#key)
    return admit({
      accounts: group ? [this.#key, group] : [this.#key],
      route,
      estimate,
      now: this.#deps.clock.now(),
      reserveOutputTokens: this.#deps.reserveOutputTokens(),
      observer: this.#deps.observer,
    })
  }

  admitHit(): Admission {
    const group = this.#deps.findGroup(this.#key)
    const accounts = group ? [this.#key, group] : [this.#key]
    return admitHit({ accounts, now: this.#deps.clock.now() })
  }
}

function isAllowed({ record: { models } }: AccountEntry, id: string): boolean {
  return models === null || models.some((allowed) => matches(allowed, id))
}

function matches(allowed: string, id: string): boolean {
  return allowed.endsWith('*') ? id.startsWith(allowed.slice(0, -1)) : id === allowed
}
