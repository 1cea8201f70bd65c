import type { Admission, Extension } from '../core/admission.ts'
import type { HeaderList } from '../core/ports.ts'
import type { AccountEntry } from './account-entry.ts'
import { checkRequests } from './admission-checks.ts'
import type { HitRequest } from './admission-request.ts'
import { buildRateHeaders } from './rate-headers.ts'
import type { WindowDebit } from './window.ts'

/** Admits a hit, or throws LM-4002. It counts as a request, and takes no tokens, no place and no budget. */
export function admitHit(request: HitRequest): Admission {
  checkRequests(request)
  const { accounts, now } = request
  const debits = accounts
    .filter(({ record }) => record.rpmLimit !== null)
    .map((account): RequestDebit => ({ account, debit: account.requests.add(1, now) }))
  return new HitAdmission(debits, buildRateHeaders(accounts, now))
}

interface RequestDebit {
  readonly account: AccountEntry
  readonly debit: WindowDebit
}

class HitAdmission implements Admission {
  readonly headers: HeaderList
  /** A hit costs nothing, so no term is charged. */
  readonly keyTerm = undefined
  readonly groupTerm = undefined
  readonly reserved = undefined
  readonly #debits: readonly RequestDebit[]
  #isEnded = false

  constructor(debits: readonly RequestDebit[], headers: HeaderList) {
    this.headers = headers
    this.#debits = debits
  }

  settle(): void {
    this.#isEnded = true
  }

  withdraw(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    for (const { account, debit } of this.#debits) account.requests.adjust(debit, 0)
  }

  extend(): Extension {
    return 'reserved'
  }

  adjust(): void {
    // A hit costs nothing, whatever a count says.
  }
}
