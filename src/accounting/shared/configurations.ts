import type { Log } from '../../core/ports.ts'
import type { AccountEntry } from '../account-entry.ts'
import type { SharedFunctions } from './functions.ts'
import { nameAccount } from './hold.ts'
import { isLoss } from './loss.ts'

export interface ConfigurationOptions {
  readonly functions: Pick<SharedFunctions, 'configure'>
  readonly log: Log
}

/** Sends the server the caps and periods that have changed. */
export class Configurations {
  readonly #options: ConfigurationOptions
  /** The cap and the period of each account that the server has or gets. */
  readonly #sent = new WeakMap<AccountEntry, string>()
  /** The accounts whose change the server has not followed yet. */
  readonly #pending = new Set<AccountEntry>()

  constructor(options: ConfigurationOptions) {
    this.#options = options
  }

  /** Notes an account as the database has it, from which the server gets it. */
  note(account: AccountEntry): void {
    this.#sent.set(account, describeBudget(account))
  }

  /** Sends the budget of an account if it has changed. */
  follow(account: AccountEntry): void {
    if (this.#sent.get(account) === describeBudget(account)) return
    this.note(account)
    this.#pending.add(account)
    void this.#send(account)
  }

  /** Sends what could not be delivered before. Never rejects. */
  async sendPending(): Promise<void> {
    for (const account of this.#pending) await this.#send(account)
  }

  async #send(account: AccountEntry): Promise<void> {
    const { functions, log } = this.#options
    try {
      await functions.configure(nameAccount(account), account)
      this.#pending.delete(account)
    } catch (error) {
      if (isLoss(error)) return
      log.write('error', 'the shared state has failed', { error: String(error) })
    }
  }
}

function describeBudget({ record }: AccountEntry): string {
  return `${record.budgetMax} ${record.budgetPeriod}`
}
