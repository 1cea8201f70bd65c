import type { answerSchemas } from './answers/index.ts'
import type { requestSchemas } from './requests.ts'

/** A query parameter, or a header with `in: 'header'`. */
export interface Parameter {
  readonly name: string
  readonly in?: 'header'
  readonly required?: true
  readonly description: string
  readonly schema: object
}

/** What a path does with one method. */
export interface Operation {
  readonly summary: string
  readonly description?: string
  readonly tag: 'Models' | 'Operation' | 'Keys' | 'Usage' | 'Configuration'
  /** Which key it needs, when auth is on. */
  readonly key: 'client' | 'master' | 'none'
  readonly body?: Body
  readonly parameters?: readonly Parameter[]
  /** Answers by status, besides errors. */
  readonly answers: Readonly<Record<number, Answer>>
  /** The statuses of its errors. */
  readonly errors: readonly number[]
  readonly errorSchema?: keyof typeof answerSchemas
}

export interface Body {
  readonly schema: keyof typeof requestSchemas | 'text'
  readonly example: unknown
  readonly optional?: true
}

export interface Answer {
  readonly description: string
  /** A schema for JSON; `text` for plain text. Without one the answer has no body. */
  readonly schema?: keyof typeof answerSchemas
  /** Other content types of the same answer. */
  readonly otherTypes?: readonly string[]
}

export type Operations = Readonly<Record<string, Readonly<Record<string, Operation>>>>
