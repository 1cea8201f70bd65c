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
  readonly running = new Tally()
  /** By key or group and minute, so that windows need no reset. */
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
    const owners: PlainOwner[] = [{ scope: 'key', row: key, window: `${id} ${minute}` }]
    if (group && group.deletedAt === null) {
      owners.push({ scope: 'group', row: group, window: `${group.id} ${minute}` })
    }
    const undo: (() => void)[] = []
    const take = (tally: Tally, name: string, amount: bigint) => {
      tally.add(name, amount)
      undo.push(() => tally.add(name, -amount))
    }
    const refused = (code: string) => {
      for (const step of undo) step()
      return code
    }

    for (const { scope, row, window } of owners) {
      if (row.rpmLimit === null) continue
      take(this.requests, window, 1n)
      if (this.requests.of(window) > row.rpmLimit) return refused(`LM-4002 ${scope}`)
    }
    const debit = BigInt(prompt + (output ?? 0))
    for (const { scope, row, window } of owners) {
      if (row.tpmLimit === null) continue
      take(this.tokens, window, debit)
      if (this.tokens.of(window) > row.tpmLimit) return refused(`LM-4003 ${scope}`)
    }
    for (const { scope, row } of owners) {
      take(this.running, row.id, 1n)
      if (row.maxParallel !== null && this.running.of(row.id) > row.maxParallel) {
        return refused(`LM-4006 ${scope}`)
      }
    }
    const bound = BigInt((output ?? this.#reserveOutput) * choices)
    const cost = BigInt(prompt) * inputPrice + bound * outputPrice
    for (const { scope, row } of owners) {
      if (row.budgetMax === null) continue
      const isFull = this.spent.of(row.id) + this.reserved.of(row.id) >= row.budgetMax
      take(this.reserved, row.id, cost)
      if (isFull || this.spent.of(row.id) + this.reserved.of(row.id) > row.budgetMax) {
        return refused(`LM-4001 ${scope}`)
      }
    }
    return {
      debit,
      counted: owners.flatMap(({ row, window }) => (row.rpmLimit === null ? [] : [window])),
      debited: owners.flatMap(({ row, window }) => (row.tpmLimit === null ? [] : [window])),
      owners: owners.map(({ row }) => row.id),
      reserved: owners.flatMap(({ row }) =>
        row.budgetMax === null ? [] : [{ name: row.id, cost }],
      ),
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
    if (tokens === undefined) return
    for (const window of admission.debited) {
      this.tokens.add(window, BigInt(tokens) - admission.debit)
    }
  }

  withdraw(admission: PlainAdmission): void {
    if (admission.isOver) return
    this.#end(admission)
    for (const window of admission.counted) this.requests.add(window, -1n)
    for (const window of admission.debited) this.tokens.add(window, -admission.debit)
  }

  amend({ row }: PlainAdmission, cost: bigint): void {
    if (!row) return
    for (const name of row.owners) this.spent.add(name, cost - row.cost)
    row.cost = cost
  }

  #end(admission: PlainAdmission): void {
    admission.isOver = true
    for (const name of admission.owners) this.running.add(name, -1n)
    for (const { name, cost } of admission.reserved) this.reserved.add(name, -cost)
  }
}

/** The key of a request, or its group. */
interface PlainOwner {
  readonly scope: 'key' | 'group'
  readonly row: KeyRow | GroupRow
  /** The name of its minute. */
  readonly window: string
}

export interface PlainAdmission {
  readonly debit: bigint
  /** The windows that count the request, and those that its tokens are debited from. */
  readonly counted: readonly string[]
  readonly debited: readonly string[]
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
