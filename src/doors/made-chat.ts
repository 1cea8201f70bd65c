import type { ChatCall, ChatHead, ChatLayout, ChatRequest } from '../core/chat.ts'
import { runAtOnce, type Steps } from '../core/steps.ts'
import { UntranslatableError } from '../core/untranslatable-error.ts'
import { stringifyJson } from '../wire/json/raw.ts'
import { scanLayout } from '../wire/json/scan.ts'

/** Writes a chat request, or throws the `UntranslatableError` that says why it cannot be written. */
export type WriteChat = () => Steps<ChatRequest>

export interface MadeChatOptions {
  readonly stream: boolean
  readonly size: RequestSize
}

/** A chat request that the gateway writes for a client of another API, when it is needed. */
export class MadeChat implements ChatCall {
  readonly stream: boolean
  readonly wantsLogprobs = false
  readonly isMade = true
  readonly hasProviderContent = false
  readonly #write: WriteChat
  readonly #size: RequestSize
  #outcome: ChatRequest | UntranslatableError | undefined
  /** Stays when the request is dropped: answers are read by it. */
  #head: ChatHead | undefined
  #bytes: Uint8Array | undefined
  #layout: ChatLayout | undefined

  /** `size` is that of the client's own body. */
  constructor(write: WriteChat, { stream, size }: MadeChatOptions) {
    this.#write = write
    this.#size = size
    this.stream = stream
  }

  /** Writes the request in steps. Throws the same as `request`. */
  *writeInSteps(): Steps<ChatRequest> {
    try {
      this.#outcome ??= yield* this.#write()
    } catch (error) {
      if (!(error instanceof UntranslatableError)) throw error
      this.#outcome = error
    }
    if (this.#outcome instanceof UntranslatableError) throw this.#outcome
    return this.#outcome
  }

  /** Throws `UntranslatableError` for what no chat request can express. */
  get request(): ChatRequest {
    const outcome = this.#outcome
    if (outcome && !(outcome instanceof UntranslatableError)) return outcome
    return runAtOnce(this.writeInSteps())
  }

  get head(): ChatHead {
    return this.#head ?? this.request
  }

  get wantsUsageChunk(): boolean {
    return this.head.stream_options?.include_usage === true
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

  /** Drops the request, which is written again when it is needed. */
  forget(): void {
    if (this.#outcome && !(this.#outcome instanceof UntranslatableError)) {
      this.#head = pickHead(this.#outcome)
    }
    this.#outcome = undefined
    this.#bytes = undefined
    this.#layout = undefined
  }
}

/** Copies the short members. */
function pickHead(request: ChatRequest): ChatHead {
  const { model, stream, stream_options, max_tokens, max_completion_tokens, n } = request
  return { model, stream, stream_options, max_tokens, max_completion_tokens, n }
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
