import type { JournalRow, LostCharge } from '../../store/index.ts'
import type { AccountEntry } from '../account-entry.ts'
import { toRefund } from './lost-row.ts'
import type { ProcessCharges } from './process-charges.ts'
import type { Settlements } from './settlements.ts'
import { nameSubject, type SubjectName } from './values.ts'

export interface RefundOptions {
  readonly charges: ProcessCharges
  readonly settlements: Settlements
  readonly find: (name: SubjectName) => AccountEntry | undefined
  readonly addRow: (row: JournalRow) => void
}

/** Takes back what other processes have charged for this one when they took it for dead. */
export class Refunds {
  readonly #options: RefundOptions

  constructor(options: RefundOptions) {
    this.#options = options
  }

  /** Takes back a charge for the request of a saved row. */
  add(row: JournalRow, { cost }: LostCharge): void {
    const { charges, settlements, find, addRow } = this.#options
    const { keyId, groupId } = row
    const key = find(nameSubject('key', keyId))
    const group = groupId === null ? undefined : find(nameSubject('group', groupId))
    // A request that was refused has no terms: the server may have admitted it in the present ones.
    const { keyTerm = key?.term, groupTerm = group?.term } = row
    const names: SubjectName[] = []
    for (const [account, term] of [[key, keyTerm] as const, [group, groupTerm] as const]) {
      if (!account || !term) continue
      const name = nameSubject(account.scope, account.record.id)
      account.charge(-cost, term)
      charges.charge(name, -cost, term)
      names.push(name)
    }
    settlements.send([], names)
    addRow(toRefund({ ...row, keyTerm, groupTerm }, cost))
  }
}
