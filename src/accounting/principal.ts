import type { Account } from '../core/accounts.ts'
import type { Admission, Principal, UsageEstimate } from '../core/admission.ts'
import type { Clock } from '../core/ports.ts'
import type { ModelRoute } from '../core/provider.ts'
import { admit, type BudgetBook } from './admission.ts'
import type { GroupEntry, KeyEntry } from './budget.ts'

/** What all callers share. */
export interface AdmissionDeps extends BudgetBook {
  readonly clock: Clock
  readonly reserveOutputTokens: () => number
  /** Undefined without a group, and where it is not known or deleted: then none is enforced or charged. */
  groupOf(key: KeyEntry): GroupEntry | undefined
}

/** Someone who has shown a key. */
export class KeyPrincipal implements Principal {
  readonly #key: KeyEntry
  readonly #door: AdmissionDeps

  constructor(key: KeyEntry, door: AdmissionDeps) {
    this.#key = key
    this.#door = door
  }

  get account(): Account {
    const group = this.#door.groupOf(this.#key)
    return { keyId: this.#key.record.id, groupId: group?.record.id ?? null }
  }

  admit(route: ModelRoute, demand: () => UsageEstimate): Admission {
    return admit({
      key: this.#key,
      group: this.#door.groupOf(this.#key),
      route,
      demand,
      now: this.#door.clock.now(),
      reserveOutputTokens: this.#door.reserveOutputTokens(),
      book: this.#door,
    })
  }
}
