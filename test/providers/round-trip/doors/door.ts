import type { Chance } from '../chance.ts'
import type { Answer, Input, Shown, Vendor } from '../vendor.ts'

/** A client of one of the gateway's APIs. */
export interface Door {
  readonly name: string
  readonly path: string
  /** Answers and results of tools may have images and sound, and results may say that the call failed. */
  readonly takesMedia: boolean
  /** An answer that ends inside a call comes back as the model wrote it. */
  readonly takesTornCalls: boolean
  /** Returns a request with this conversation and the tool `f`, as a value with `RawText` in it. */
  readonly ask: (conversation: readonly object[], model: string) => object
  readonly toUser: (text: string) => object
  /** Returns the results of the calls with these ids, in any order. */
  readonly toResults: (results: readonly Result[]) => readonly object[]
  /** Reads an answer as the client sees it. */
  readonly read: (answer: Received) => Promise<Reply>
  /** Returns what must come back to the vendor of an answer. */
  readonly expect: (answer: Answer, isStreamed: boolean) => Expected
  /** Whether the vendor's API is the client's, so that nothing is translated. */
  readonly isNative: (vendor: Vendor) => boolean
}

export interface Result {
  readonly id: string
  readonly input: Input
}

export interface Received {
  readonly response: Response
  readonly isStreamed: boolean
  readonly chance: Chance
}

export interface Reply {
  /** What the client shows to a user; `words` is the text, or else the refusal. */
  readonly shown: Partial<Shown & { readonly words: string }>
  /** What the client adds to the conversation. */
  readonly items: readonly object[]
  readonly callIds: readonly string[]
}

/** The vendor's own content, or a turn of which only the text has to come back. */
export type Expected = { readonly turn: unknown } | { readonly text: string }

/** The tool that the model may call. */
export const parameters = { type: 'object', properties: { id: { type: 'string' } } }
