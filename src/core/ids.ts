declare const brand: unique symbol
type Branded<T, Name extends string> = T & { readonly [brand]: Name }

/** A model id, as clients send it in `model`. */
export type ModelId = Branded<string, 'ModelId'>
/** The configured name of a provider. */
export type ProviderName = Branded<string, 'ProviderName'>
/** The id of one request, as in `x-request-id`. */
export type RequestId = Branded<string, 'RequestId'>

/** The id of a virtual key: 32 lowercase hex digits. A rotation keeps it. */
export type KeyId = Branded<string, 'KeyId'>
/** The id of a budget group: 32 lowercase hex digits. */
export type GroupId = Branded<string, 'GroupId'>

/**
 * The rule for ids of models and names of providers: 1 to 256 printable Latin-1 characters, with no space at either
 * end. They are sent in response headers.
 */
export const nameRule = /^(?=.{1,256}$)[\x21-\x7e\xa1-\xff]+(?: +[\x21-\x7e\xa1-\xff]+)*$/

/** An amount of money in billionths of a US dollar. */
export type NanoUsd = Branded<bigint, 'NanoUsd'>

/** A duration or an instant in milliseconds. */
export type Millis = number

/** An instant in whole seconds since the epoch, as on the wire and in the database. */
export type UnixSeconds = number

/** A size or a limit in bytes. */
export type Bytes = number

/** Maximum delay of the platform's timers, 31 bits; a longer one would fire at once. */
export const maxTimerDelay: Millis = 2 ** 31 - 1

const safeRequestId = /^[A-Za-z0-9._-]{1,128}$/

/** Returns the request id of the client if it has 1 to 128 safe characters, else undefined. */
export function clientRequestId(header: string | null): RequestId | undefined {
  // The pattern is what makes the brand true.
  return header !== null && safeRequestId.test(header) ? (header as RequestId) : undefined
}

/** Creates an id for a completion whose upstream sends none. */
export function newCompletionId(): string {
  return `chatcmpl-${crypto.randomUUID().replaceAll('-', '')}`
}

/** Creates an id for a text completion whose upstream sends none. */
export function newTextCompletionId(): string {
  return `cmpl-${crypto.randomUUID().replaceAll('-', '')}`
}

/** Creates an id for a tool call whose upstream sends none. */
export function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`
}
