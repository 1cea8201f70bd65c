import type { TestGateway } from '../../support/gateway.ts'
import type { Chance } from './chance.ts'

/** An answer of a model, made up, in every form in which it is seen. */
export interface Answer {
  /** The whole answer, as JSON. */
  readonly whole: string
  /** The same as a stream. */
  readonly stream: Uint8Array
  /** What the client must see. */
  readonly shown: Shown
  /**
   * What must come back to the vendor in all later turns: its own words, less what the message of the
   * OpenAI format has no place for. Undefined where the message says nothing.
   */
  readonly back: unknown
}

export interface Shown {
  readonly content: string
  readonly reasoning: string
  /** The vendor's words for why it does not answer. */
  readonly refusal?: string
  /** What the answer cites. */
  readonly annotations?: readonly object[]
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
}

/** What a tool returns, or a user says. */
export interface Input {
  readonly text: string
  /** A picture beside the text: base64. */
  readonly png: string | undefined
}

/** A vendor with a small model, and how to read what it is sent. */
export interface Vendor {
  readonly name: string
  readonly contentType: string
  readonly gateway: () => Promise<TestGateway>
  /** Pictures may stand in the results of tools. */
  readonly takesPictures: boolean
  /**
   * `reasoning_content` comes back to it. The official SDK keeps only the last piece of what it does not
   * know, so that no stream that it has merged can bring it back.
   */
  readonly needsReasoning: boolean
  /** `isStreamed`: an answer that is cut off within a call has a form in streams only. */
  readonly answer: (chance: Chance, isStreamed: boolean) => Answer
  /** The turns of the model in a request, in the form of `Answer.back`. */
  readonly turns: (body: string) => readonly unknown[]
  /** The inputs in a request, those of tools in the order of the calls that they answer. */
  readonly inputs: (body: string) => readonly Input[]
}
