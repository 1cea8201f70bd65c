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
  readonly gateway: () => Promise<TestGateway>
  /** The results of tools may have images. */
  readonly takesPictures: boolean
  /** The results of tools may say that the call failed. */
  readonly takesFailures: boolean
  /** `isStreamed`: only a stream can have an answer that ends inside a call. */
  readonly answer: (chance: Chance, isStreamed: boolean) => Answer
  /** The turns of the model in a request, in the form of `Answer.back`. */
  readonly turns: (body: string) => readonly unknown[]
  /** The inputs in a request; tool results are in the order of the calls that they answer. */
  readonly inputs: (body: string) => readonly Input[]
}
