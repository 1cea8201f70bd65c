import type { Admission, AdmissionOutcome, Extension } from '../../core/admission.ts'
import type { BudgetTerm } from '../../core/budget-period.ts'
import type { NanoUsd } from '../../core/ids.ts'
import type { HeaderList } from '../../core/ports.ts'
import { findReserved } from '../admission.ts'
import type { HoldEnd } from './functions.ts'
import type { SharedHold } from './hold.ts'

/** What the end of an admission does. */
export interface HoldLedger {
  /** Charges the terms of a hold; a negative amount is a refund. */
  charge(hold: SharedHold, amount: bigint): void
  /** Ends a hold once, after its charge. */
  end(hold: SharedHold, how: Pick<HoldEnd, 'mode' | 'tokens'>): void
  /** Delivers charges that were made after the end. */
  deliver(hold: SharedHold): void
  /** Reserves more for a hold that has not ended. */
  extend(hold: SharedHold, cost: bigint): Promise<Extension>
}

/** The admission of a request whose hold is known to all processes. */
export class SharedAdmission implements Admission {
  readonly headers: HeaderList
  readonly #hold: SharedHold
  readonly #ledger: HoldLedger
  /** The amount charged so far; undefined before the end and after a withdrawal. */
  #charged: bigint | undefined
  #isEnded = false

  constructor(hold: SharedHold, ledger: HoldLedger, headers: HeaderList) {
    this.headers = headers
    this.#hold = hold
    this.#ledger = ledger
  }

  get keyTerm(): BudgetTerm | undefined {
    return this.#hold.subjects[0]?.term
  }

  get groupTerm(): BudgetTerm | undefined {
    return this.#hold.subjects[1]?.term
  }

  get reserved(): NanoUsd | undefined {
    return findReserved(this.#hold.subjects)
  }

  settle({ cost, tokens }: AdmissionOutcome): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#charged = cost
    this.#ledger.charge(this.#hold, cost)
    this.#ledger.end(this.#hold, { mode: 'settle', tokens })
  }

  withdraw(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#ledger.end(this.#hold, { mode: 'withdraw', tokens: undefined })
  }

  extend(cost: NanoUsd): Extension | Promise<Extension> {
    const isCapped = this.#hold.subjects.some(({ reserved }) => reserved > 0n)
    return this.#isEnded || !isCapped ? 'reserved' : this.#ledger.extend(this.#hold, cost)
  }

  adjust(cost: NanoUsd): void {
    if (this.#charged === undefined || cost === this.#charged) return
    this.#ledger.charge(this.#hold, cost - this.#charged)
    this.#charged = cost
    this.#ledger.deliver(this.#hold)
  }
}

/** The admission of a hit that all processes count. It holds nothing but its request. */
export class SharedHit implements Admission {
  readonly headers: HeaderList
  /** A hit costs nothing, so no term is charged. */
  readonly keyTerm = undefined
  readonly groupTerm = undefined
  readonly reserved = undefined
  readonly #takeBack: () => void
  #isEnded = false

  constructor(headers: HeaderList, takeBack: () => void) {
    this.headers = headers
    this.#takeBack = takeBack
  }

  settle(): void {
    this.#isEnded = true
  }

  withdraw(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#takeBack()
  }

  extend(): Extension {
    return 'reserved'
  }

  adjust(): void {
    // A hit costs nothing, whatever a count says.
  }
}
