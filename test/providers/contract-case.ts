/** The answer of a model, independent of the vendor's format. */
export interface ScriptedAnswer {
  /** The pieces of a streamed answer. */
  readonly text?: readonly string[]
  readonly reasoning?: string
  readonly calls?: readonly ScriptedCall[]
  readonly finish: 'stop' | 'length' | 'tool_calls'
  /** Absent: the vendor reports no usage. The numbers may be invalid. */
  readonly usage?: { readonly prompt: number; readonly completion: number } | undefined
  /** The client has asked for a usage chunk. */
  readonly asked?: boolean
}

export interface ScriptedCall {
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** The bytes of a streamed answer. Each item is one event of the vendor. */
export interface StreamScript {
  /** The events before the first content. May be empty. */
  readonly opening: readonly (string | Uint8Array)[]
  /** At least one item for each piece of text. */
  readonly content: readonly (string | Uint8Array)[]
  /** The events that complete the answer. Without them the stream is truncated. */
  readonly end: readonly (string | Uint8Array)[]
}

/** The format of a vendor. */
export interface VendorScript {
  /** The JSON body of an answer. */
  answer(scripted: ScriptedAnswer): unknown
  events(scripted: ScriptedAnswer): StreamScript
  /** The media type of a stream when it is not `text/event-stream`. */
  readonly contentType?: string
  /** The JSON body of an error with this status. */
  error(status: number, message: string): unknown
  /** An error event inside a stream: the vendor is overloaded or has failed. */
  streamError(message: string): string | Uint8Array
}

/** The facts about one kind that the contract needs. */
export interface ChatContractCase {
  readonly kind: string
  readonly upstreamId: string
  /** Further settings of the provider, one TOML line each. */
  readonly settings?: string
  /** The value of the variable that `api_key_env` names. */
  readonly secret?: string
  /** Absent for a kind with its own upstream. */
  readonly script?: VendorScript
  /** The kind accepts http(s) addresses of images, not only data URIs. */
  readonly remoteImages: boolean
  readonly reasoning: boolean
  readonly jsonSchema: boolean
  /** A field that the kind does not support, with a value other than the default. */
  readonly dropped?: { readonly field: string; readonly value: unknown }
}
