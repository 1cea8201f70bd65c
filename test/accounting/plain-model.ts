import type { GroupRow, KeyRow } from '../../src/store/index.ts'

/** The prices in nano-dollars per token. */
export const inputPrice = 1n
export const outputPrice = 2n

export interface PlainDemand {
  readonly prompt: number
  /** The maximum output of one choice; undefined: none is set. */
  readonly output: number | undefined
  readonly choices: number
}

/** Accounting in its simplest form: step by step, each undone when a later one refuses. */
export class PlainModel {
  readonly keys = new Map<string, KeyRow>()
  readonly groups = new Map<string, GroupRow>()
  readonly spent = new Tally()
  readonly reserved = new Tally()
  /** By key and minute, so that windows need no reset. */
  readonly requests = new Tally()
  readonly tokens = new Tally()
  readonly rows: { readonly owners: readonly string[]; cost: bigint }[] = []
  readonly #reserveOutput: number

  constructor(reserveOutput: number) {
    this.#reserveOutput = reserveOutput
  }

  admit(
    id: string,
    { prompt, output, choices }: PlainDemand,
    minute: number,
  ): PlainAdmission | string {
    const key = this.keys.get(id)
    if (!key) throw new Error('no such key')
    const group = key.groupId === null ? undefined : this.groups.get(key.groupId)
    const window = `${id} ${minute}`
    const undo: (() => void)[] = []
    const take = (tally: Tally, name: string, amount: bigint) => {
      tally.add(name, amount)
      undo.push(() => tally.add(name, -amount))
    }
    const refused = (code: string) => {
      for (const step of undo) step()
      return code
    }

    if (key.rpmLimit !== null) {
      take(this.requests, window, 1n)
      if (this.requests.of(window) > key.rpmLimit) return refused('LM-4002')
    }
    const debit = BigInt(prompt + (output ?? 0))
    if (key.tpmLimit !== null) {
      take(this.tokens, window, debit)
      if (this.tokens.of(window) > key.tpmLimit) return refused('LM-4003')
    }
    const bound = BigInt((output ?? this.#reserveOutput) * choices)
    const cost = BigInt(prompt) * inputPrice + bound * outputPrice
    const owners: { name: string; cap: bigint | null; code: string }[] = []
    owners.push({ name: id, cap: key.budgetMax, code: 'LM-4001 key' })
    if (group && group.deletedAt === null) {
      owners.push({ name: group.id, cap: group.budgetMax, code: 'LM-4001 group' })
    }
    for (const { name, cap, code } of owners) {
      if (cap === null) continue
      const isFull = this.spent.of(name) + this.reserved.of(name) >= cap
      take(this.reserved, name, cost)
      if (isFull || this.spent.of(name) + this.reserved.of(name) > cap) return refused(code)
    }
    return {
      window,
      debit: key.tpmLimit === null ? undefined : debit,
      isCounted: key.rpmLimit !== null,
      owners: owners.map(({ name }) => name),
      reserved: owners.flatMap(({ name, cap }) => (cap === null ? [] : [{ name, cost }])),
      row: undefined,
      isOver: false,
    }
  }

  settle(admission: PlainAdmission, cost: bigint, tokens: number | undefined): void {
    if (admission.isOver) return
    this.#end(admission)
    admission.row = { owners: admission.owners, cost }
    this.rows.push(admission.row)
    for (const name of admission.owners) this.spent.add(name, cost)
    if (admission.debit !== undefined && tokens !== undefined) {
      this.tokens.add(admission.window, BigInt(tokens) - admission.debit)
    }
  }

  withdraw(admission: PlainAdmission): void {
    if (admission.isOver) return
    this.#end(admission)
    if (admission.isCounted) this.requests.add(admission.window, -1n)
    if (admission.debit !== undefined) this.tokens.add(admission.window, -admission.debit)
  }

  amend({ row }: PlainAdmission, cost: bigint): void {
    if (!row) return
    for (const name of row.owners) this.spent.add(name, cost - row.cost)
    row.cost = cost
  }

  #end(admission: PlainAdmission): void {
    admission.isOver = true
    for (const { name, cost } of admission.reserved) this.reserved.add(name, -cost)
  }
}

export interface PlainAdmission {
  readonly window: string
  readonly debit: bigint | undefined
  readonly isCounted: boolean
  readonly owners: readonly string[]
  readonly reserved: readonly { readonly name: string; readonly cost: bigint }[]
  row: { readonly owners: readonly string[]; cost: bigint } | undefined
  isOver: boolean
}

class Tally {
  readonly #amounts = new Map<string, bigint>()

  of(name: string): bigint {
    return this.#amounts.get(name) ?? 0n
  }

  add(name: string, amount: bigint): void {
    this.#amounts.set(name, this.of(name) + amount)
  }
}
