import type { ChatCall, ChatHead, ChatLayout, ChatRequest } from '../core/chat.ts'
import { stringifyJson } from '../wire/json/raw.ts'
import { scanLayout } from '../wire/json/scan.ts'

/** A chat request that the gateway has written for a client of another API. */
export class MadeChat implements ChatCall {
  readonly request: ChatRequest
  readonly stream: boolean
  readonly wantsUsageChunk: boolean
  readonly wantsLogprobs = false
  readonly isMade = true
  readonly hasProviderContent = false
  readonly #size: RequestSize
  #bytes: Uint8Array | undefined
  #layout: ChatLayout | undefined

  /** `size` is that of the client's own body. */
  constructor(request: ChatRequest, size: RequestSize) {
    this.#size = size
    this.request = request
    this.stream = request.stream === true
    this.wantsUsageChunk = request.stream_options?.include_usage === true
  }

  get head(): ChatHead {
    return this.request
  }

  /** The request as JSON, encoded once. `RawJson` values are inserted as they are. */
  get bytes(): Uint8Array {
    this.#bytes ??= encoder.encode(stringifyJson(this.request))
    return this.#bytes
  }

  get layout(): ChatLayout {
    this.#layout ??= new MadeLayout(() => this.bytes, this.#size)
    return this.#layout
  }
}

/** The numbers of values and commas in a body, which bound the work of a translation. */
export type RequestSize = Pick<ChatLayout, 'values' | 'commas'>

/** Locates the members only when they are needed: most translated kinds never read the bytes. */
class MadeLayout implements ChatLayout {
  readonly values: number
  readonly commas: number
  readonly #bytes: () => Uint8Array
  #scanned: ChatLayout | undefined

  constructor(bytes: () => Uint8Array, { values, commas }: RequestSize) {
    this.#bytes = bytes
    this.values = values
    this.commas = commas
  }

  get spans(): ChatLayout['spans'] {
    return this.#scan.spans
  }

  get close(): number {
    return this.#scan.close
  }

  get isEmpty(): boolean {
    return this.#scan.isEmpty
  }

  get #scan(): ChatLayout {
    this.#scanned ??= scanLayout(this.#bytes(), ['model', 'stream_options'])
    return this.#scanned
  }
}

const encoder = new TextEncoder()
