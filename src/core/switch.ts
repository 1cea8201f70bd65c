import type { Account } from './accounts.ts'
import type { Api } from './capability.ts'
import type { Millis } from './ids.ts'
import type { Metadata } from './metadata.ts'

/** What the cases of a switch can ask about a request. Each is found out only when a case asks for it. */
export interface SwitchFacts {
  readonly api: Api
  readonly stream: boolean
  readonly hasTools: boolean
  readonly hasImages: boolean
  /** Documents, audio and video: everything that is attached but no image. */
  readonly hasFiles: boolean
  /** The estimated tokens of the prompt. */
  readonly inputTokens: number
  /** Undefined without auth. */
  readonly account: Account | undefined
  readonly metadata: Metadata
  /** The spent part of the budget of the key, or of its group where that is larger. Undefined without a cap. */
  readonly budgetUsed: number | undefined
  /** On the wall clock. */
  readonly at: Millis
}

/** A fact as explanations show it; undefined where the request has none. */
export type ShownFact = string | number | boolean | undefined

/** One member of `when`. */
export interface SwitchCondition {
  /** As in the configuration: `metadata.team`. */
  readonly name: string
  show(facts: SwitchFacts): ShownFact
  holds(facts: SwitchFacts): boolean
}

/** A case that was looked at, with its conditions up to the first one that does not hold. */
export interface TriedCase {
  readonly target: string
  readonly holds: boolean
  readonly conditions: readonly TriedCondition[]
}

export interface TriedCondition {
  readonly name: string
  readonly value: ShownFact
  readonly holds: boolean
}

/** How one switch has chosen for a request. */
export interface SwitchStep {
  /** The id of the switch. */
  readonly id: string
  /** The id of the chosen target. */
  readonly target: string
  /** In order; the last one holds, unless none does and the default is chosen. */
  readonly tried: readonly TriedCase[]
}
