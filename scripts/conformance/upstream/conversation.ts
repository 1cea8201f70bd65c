import type { JsonSchema } from './json-schema.ts'

/** A conversation as every vendor's model sees it. */
export interface Conversation {
  /** Neighbours have different roles. */
  readonly turns: readonly Turn[]
  readonly tools: readonly Tool[]
  readonly choice: 'auto' | 'none' | 'any' | { readonly name: string }
  /** The schema that the answer must fit. */
  readonly format: JsonSchema | undefined
  /** Whether the request turns reasoning on. */
  readonly thinks: boolean
}

export type Turn = UserTurn | ModelTurn

export interface UserTurn {
  readonly role: 'user'
  readonly text: string
  readonly results: readonly ToolResult[]
  /** How many images it shows, in results too. */
  readonly images: number
}

export interface ModelTurn {
  readonly role: 'model'
  readonly text: string
  readonly calls: readonly ToolCall[]
}

export interface Tool {
  readonly name: string
  readonly schema: JsonSchema
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly input: object
}

export interface ToolResult {
  readonly id: string
  readonly text: string
}

/** What the model answers, in order. */
export type Part =
  | { readonly kind: 'reasoning'; readonly text: string }
  /** Reasoning that the vendor shows only encrypted, if at all. */
  | { readonly kind: 'veiled' }
  | { readonly kind: 'text'; readonly text: string }
  | ({ readonly kind: 'call' } & ToolCall)

export interface Answer {
  readonly parts: readonly Part[]
  readonly usage: Usage
}

/** Counts of tokens. */
export interface Usage {
  readonly input: number
  /** Includes the reasoning. */
  readonly output: number
  readonly reasoning: number
}

export function hasCalls({ parts }: Answer): boolean {
  return parts.some(({ kind }) => kind === 'call')
}

/** Merges neighbouring turns of one role, as vendors do that do not require alternation. */
export function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = []
  for (const turn of turns) {
    const last = merged.at(-1)
    if (last?.role === 'user' && turn.role === 'user') merged.splice(-1, 1, joinUser(last, turn))
    else if (last?.role === 'model' && turn.role === 'model')
      merged.splice(-1, 1, joinModel(last, turn))
    else merged.push(turn)
  }
  return merged
}

function joinUser(first: UserTurn, second: UserTurn): UserTurn {
  const text = `${first.text}\n${second.text}`.trim()
  const results = [...first.results, ...second.results]
  return { role: 'user', text, results, images: first.images + second.images }
}

function joinModel(first: ModelTurn, second: ModelTurn): ModelTurn {
  const text = `${first.text}\n${second.text}`.trim()
  return { role: 'model', text, calls: [...first.calls, ...second.calls] }
}

/** A place where calls and results do not match. */
export interface Mismatch {
  /** The index of the turn that is at fault. */
  readonly turn: number
  /** Calls of this turn without a result in the next turn. */
  readonly unanswered: readonly string[]
  /** Results of this turn without a call in the turn before. */
  readonly unknown: readonly string[]
}

/** Finds the first turn whose calls are not answered directly after it, or whose results are stray. */
export function findMismatch(turns: readonly Turn[]): Mismatch | undefined {
  for (const [index, turn] of turns.entries()) {
    const next = turns[index + 1]
    const calls = turn.role === 'model' ? turn.calls.map(({ id }) => id) : []
    const answered = next?.role === 'user' ? next.results.map(({ id }) => id) : []
    const unanswered = calls.filter((id) => !answered.includes(id))
    if (unanswered.length > 0) return { turn: index, unanswered, unknown: [] }
    const unknown = answered.filter((id, at) => !calls.includes(id) || answered.indexOf(id) < at)
    if (unknown.length > 0) return { turn: index + 1, unanswered: [], unknown }
  }
  const [first] = turns
  const stray = first?.role === 'user' ? first.results.map(({ id }) => id) : []
  return stray.length > 0 ? { turn: 0, unanswered: [], unknown: stray } : undefined
}
