import type { BudgetPeriod } from '../../src/core/budget-period.ts'
import type { GroupId, KeyId, NanoUsd } from '../../src/core/ids.ts'
import type { GroupChange, KeyChange } from '../../src/store/index.ts'
import type { StoreTrouble } from '../support/memory-store.ts'
import type { PricedDemand } from './priced-model.ts'

/** How much of what a request allows is used. More than all: its prompt was estimated too low. */
export interface UsedPart {
  readonly percent: number
  readonly isAsked: boolean
}

/** A step of a simulation; `at` picks one of the admissions so far. */
export type Step =
  | {
      readonly do: 'admit'
      readonly key: KeyId
      /** How many rotations ago the secret of the request was the key's secret. */
      readonly age: number
      readonly model: string
      readonly demand: PricedDemand
    }
  | {
      readonly do: 'settle'
      readonly at: number
      readonly use: UsedPart
      readonly tokens: number | undefined
    }
  | { readonly do: 'withdraw'; readonly at: number }
  | { readonly do: 'adjust'; readonly at: number; readonly use: UsedPart }
  | { readonly do: 'record'; readonly at: number }
  | { readonly do: 'change key'; readonly key: KeyId; readonly change: KeyChange }
  | { readonly do: 'change group'; readonly group: GroupId; readonly change: GroupChange }
  | {
      readonly do: 'change period'
      readonly id: KeyId | GroupId
      readonly period: BudgetPeriod | null
    }
  | { readonly do: 'grant key'; readonly key: KeyId; readonly amount: NanoUsd }
  | { readonly do: 'grant group'; readonly group: GroupId; readonly amount: NanoUsd }
  | { readonly do: 'rotate'; readonly key: KeyId; readonly grace: number }
  | { readonly do: 'delete key'; readonly key: KeyId }
  | { readonly do: 'delete group'; readonly group: GroupId }
  | { readonly do: 'flush'; readonly trouble: StoreTrouble; readonly wait: boolean }
  | { readonly do: 'reload' }
  | { readonly do: 'wait'; readonly time: number }
  /** Jumps to shortly before a midnight, `days` days later. */
  | { readonly do: 'jump'; readonly days: number }
