import type { Body } from './request.ts'

/** One thing that an upstream demands of a request, as a row of its table. */
export interface Rule {
  readonly demand: string
  /** Where the demand or the words can be read. */
  readonly source: string
  /** The answer to a request that breaks the rule. `%s` is what `find` returns. */
  readonly words: string
  /** 400 without it. */
  readonly status?: number
  /** The vendor's code of the error. */
  readonly code?: string
  /**
   * Without it the request is refused. Otherwise the upstream serves the request, but not as it was meant: it
   * passes over a field (`misread`), or has lost what it wants back of its reasoning (`lost-proof`).
   */
  readonly effect?: 'misread' | 'lost-proof'
  /** Returns the place at fault; undefined for a request that keeps the rule. */
  find(body: Body): string | number | undefined
  /** Members of a request that breaks the rule, for the test. */
  readonly breaks: Fields
  /** Members of a request that is next to it, and is served. */
  readonly keeps: Fields
}

export type Fields = Readonly<Record<string, unknown>>

/** Describes what is wrong with a request. Returns undefined for a request that keeps the rule. */
export function findFault({ find, words }: Rule, body: Body): string | undefined {
  const place = find(body)
  return place === undefined ? undefined : words.replaceAll('%s', String(place))
}
