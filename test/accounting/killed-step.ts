import type { KeyId } from '../../src/core/ids.ts'
import type { PricedDemand } from './priced-model.ts'

export const places = ['1', '2', '3']

/** The machine of each place. A process finds only the journals of its own machine. */
export type Layout = Readonly<Record<string, string>>

export const layouts = {
  oneMachine: { 1: 'a', 2: 'a', 3: 'a' },
  twoMachines: { 1: 'a', 2: 'b', 3: 'b' },
  threeMachines: { 1: 'a', 2: 'b', 3: 'c' },
} as const satisfies Readonly<Record<string, Layout>>

/** A step of a history; `at` picks one of the running requests. */
export type KilledStep =
  | {
      readonly do: 'admit'
      readonly place: string
      readonly key: KeyId
      /** Of the prompt. */
      readonly tokens: number
      readonly more?: Partial<PricedDemand>
    }
  /** `percent` of what the request allows, by a call that was sent so many milliseconds after its arrival. */
  | {
      readonly do: 'settle'
      readonly at: number
      readonly percent: number
      readonly isAsked?: boolean
      readonly delay?: number
    }
  /** An attempt fails that is charged; `percent` as above. Without room for another one the request ends. */
  | { readonly do: 'fail'; readonly at: number; readonly percent: number }
  | { readonly do: 'kill' | 'open' | 'save'; readonly place: string }
  /** Until `mend` the process cannot reach the server, or does not get its replies. */
  | { readonly do: 'stall' | 'lose'; readonly place: string }
  /** Until `mend` the database runs the calls of the process only some time later. */
  | { readonly do: 'drag'; readonly place: string; readonly time: number }
  /** Kills the process at its next call with this name: before the call has run, or just after. */
  | {
      readonly do: 'strike'
      readonly place: string
      readonly call: string
      readonly when: 'before' | 'after'
    }
  /** The server is away, until `mend`. */
  | { readonly do: 'cut' }
  | { readonly do: 'mend' }
  /** Takes a snapshot of the server's data, and brings it back: the processes connect again. */
  | { readonly do: 'remember' }
  | { readonly do: 'go back'; readonly unnoticed?: boolean }
  /** The server loses its data: only when no process is slow, unless `evenSo`. */
  | { readonly do: 'empty'; readonly evenSo?: boolean }
  | { readonly do: 'wait'; readonly time: number }
