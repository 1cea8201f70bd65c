import type { TestGateway } from '../../support/gateway.ts'
import type { Chance } from './chance.ts'

/** A random answer of a model in each of its forms. */
export interface Answer {
  /** The answer as JSON. */
  readonly whole: string
  /** The answer as a stream. */
  readonly stream: Uint8Array
  /** What the client must see. */
  readonly shown: Shown
  /**
   * What must come back to the vendor in all later turns: its own content, except what a message of the
   * OpenAI format cannot carry. Undefined when the message has no content.
   */
  readonly back: unknown
  /** The same of other APIs, which bring back no thought that proves nothing. */
  readonly proven: unknown
  /** No more than signatures is needed beside the text and the calls. */
  readonly isProvenOtherwise: boolean
}

/** What an answer may have. */
export interface AnswerOptions {
  readonly isStreamed: boolean
  /** Images and sound. */
  readonly hasMedia: boolean
  /** Its end inside a call. */
  readonly mayTear: boolean
}

export interface Shown {
  readonly content: string
  readonly reasoning: string
  /** The vendor's reason for not answering. */
  readonly refusal?: string
  /** The citations of the answer. */
  readonly annotations?: readonly object[]
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
}

/** The result of a tool, or the message of a user. */
export interface Input {
  readonly text: string
  /** An image beside the text, in base64. */
  readonly png: string | undefined
  /** The call failed; always false for a message of a user. */
  readonly hasFailed: boolean
}

/** A vendor with a simulated model, and the parser of the requests that it receives. */
export interface Vendor {
  readonly kind: string
  readonly name: string
  readonly contentType: string
  /** The id of the model in the configuration. */
  readonly model: string
  readonly gateway: () => Promise<TestGateway>
  /** The results of tools may have images. */
  readonly takesPictures: boolean
  /** The results of tools may say that the call failed. */
  readonly takesFailures: boolean
  readonly answer: (chance: Chance, options: AnswerOptions) => Answer
  /** The turns of the model in a request, in the form of `Answer.back`. */
  readonly turns: (body: string) => readonly unknown[]
  /** Returns the text of such a turn. */
  readonly readText: (turn: unknown) => string
  /** The inputs in a request; tool results are in the order of the calls that they answer. */
  readonly inputs: (body: string) => readonly Input[]
}
