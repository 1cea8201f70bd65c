import type { Account, BudgetScope } from '../core/accounts.ts'
import type { Admission, AdmissionAsk, PreviewAsk, Principal } from '../core/admission.ts'
import type { Priority } from '../core/room.ts'
import type { AccountEntry, GroupEntry, KeyEntry } from './account-entry.ts'
import type { BudgetObserver } from './budget-observer.ts'
import type { Ledger } from './ledger.ts'

/** What every key principal needs for an admission. */
export interface AdmissionDeps {
  readonly ledger: Ledger
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

  get hasCap(): boolean {
    return this.#accounts.some(({ record }) => record.budgetMax !== null)
  }

  get priority(): Priority {
    const own = this.#key.record.priority
    return own ?? this.#deps.findGroup(this.#key)?.record.priority ?? 'normal'
  }

  get budgetUsed(): number | undefined {
    const now = this.#deps.ledger.now()
    const parts = this.#accounts.flatMap((account) => account.findUsed(now) ?? [])
    return parts.length === 0 ? undefined : Math.max(...parts)
  }

  mayUse(model: string): boolean {
    return this.findRefusingList(model) === undefined
  }

  findRefusingList(model: string): BudgetScope | undefined {
    if (!isAllowed(this.#key, model)) return 'key'
    const group = this.#deps.findGroup(this.#key)
    return group && !isAllowed(group, model) ? 'group' : undefined
  }

  get needsEstimate(): boolean {
    const { ledger } = this.#deps
    return ledger.needsEstimate({ accounts: this.#accounts, now: ledger.now() })
  }

  admit(ask: AdmissionAsk): Admission | Promise<Admission> {
    const { id, api, stream, named, route, estimate } = ask
    const { ledger, observer, reserveOutputTokens } = this.#deps
    // No spread: on Node 20 it would take longer than the whole admission.
    return ledger.admit({
      id,
      api,
      stream,
      named,
      accounts: this.#accounts,
      route,
      estimate,
      now: ledger.now(),
      reserveOutputTokens: reserveOutputTokens(),
      observer,
    })
  }

  previewAdmission({ route, estimate }: PreviewAsk): void | Promise<void> {
    const { ledger, observer, reserveOutputTokens } = this.#deps
    return ledger.preview({
      accounts: this.#accounts,
      route,
      estimate,
      now: ledger.now(),
      reserveOutputTokens: reserveOutputTokens(),
      observer,
    })
  }

  admitHit(): Admission | Promise<Admission> {
    const { ledger } = this.#deps
    return ledger.admitHit({ accounts: this.#accounts, now: ledger.now() })
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
