import type { AnswerForm } from '../openai/answer.ts'
import type { Refusal } from '../refusal.ts'
import type { Body } from './request.ts'
import type { Rule } from './rule.ts'

/** A vendor or a server that speaks the OpenAI format in its own way. */
export interface CompatibleUpstream {
  /** The first part of its paths. */
  readonly name: string
  /** A model that it serves. */
  readonly model: string
  /** In the order in which it looks at them. */
  readonly rules: readonly Rule[]
  /** Whether the model will think about the request. */
  thinks(body: Body): boolean
  /** How it writes answers. */
  form(body: Body): AnswerForm
  /** Makes the id of a call. OpenAI's without it. */
  toId?(call: NewCall): string
  /** The body of an error. OpenAI's without it. */
  toError?(refusal: Refusal): object
}

export interface NewCall {
  readonly name: string
  /** How many calls the conversation has before it. */
  readonly count: number
  /** Whether reasoning led to it. */
  readonly isThought: boolean
}
