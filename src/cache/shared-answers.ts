import { blake3 } from '@noble/hashes/blake3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { GatewayError } from '../core/errors.ts'
import type { Bytes, Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { SharedState } from '../core/shared-state.ts'
import { decodeBase64, encodeBase64 } from '../wire/base64.ts'
import type { Sealer, SealLabel } from '../wire/seal.ts'
import type { AnswerPlace, AnswerStore, CachedAnswer, FoundAnswer } from './answer-store.ts'
import { entryOverhead, type MemoryLimits, measureAnswer } from './memory-store.ts'
import { packAnswer, unpackAnswer } from './packed-answer.ts'

export interface SharedAnswersOptions {
  readonly shared: SharedState
  readonly clock: Clock
  /** Has the secret that all processes share. */
  readonly sealer: Sealer
  /** Called for each answer that is removed to make room for another. */
  readonly onEvict: () => void
}

/** A request waits this long for each piece of an answer. Then the provider is asked. */
const maxWait: Millis = 50

/**
 * Keeps answers on the server, for all processes. They are sealed, each for its key, and stored under names
 * that are digests with a secret: the server learns neither an answer nor a request. The one that was used
 * least recently goes first.
 */
export class SharedAnswers implements AnswerStore {
  readonly #options: SharedAnswersOptions
  /** For the names of the answers on the server. */
  readonly #secret: Uint8Array
  #limits: MemoryLimits = { maxBytes: 0, maxEntryBytes: 0 }
  #onClear = () => {}
  #generation = 0
  #bytes: Bytes = 0
  #entries = 0

  private constructor(options: SharedAnswersOptions, secret: Uint8Array) {
    this.#options = options
    this.#secret = secret
    const { shared } = options
    shared.subscribe('answers', (generation) => this.#adopt(Number(generation)))
    shared.onUp(() => void this.#call('answer_find', ['0']))
    void this.#call('answer_find', ['0'])
  }

  static async open(options: SharedAnswersOptions): Promise<SharedAnswers> {
    return new SharedAnswers(options, await options.sealer.deriveSecret('names of cached answers'))
  }

  /** Returns the store with other limits. */
  use(limits: MemoryLimits): this {
    this.#limits = limits
    return this
  }

  /** Sets the function that is called when any process has removed all answers. */
  onClear(listener: () => void): void {
    this.#onClear = listener
  }

  get generation(): number {
    return this.#generation
  }

  /** Of all answers on the server, as of the last reply. */
  get bytes(): Bytes {
    return this.#bytes
  }

  get entries(): number {
    return this.#entries
  }

  find(place: AnswerPlace, ttl: Millis): Promise<FoundAnswer | undefined> | undefined {
    return this.#options.shared.isUp ? this.#find(place, ttl) : undefined
  }

  put(place: AnswerPlace, answer: CachedAnswer, ttl: Millis): void {
    if (measureAnswer(answer) <= this.#limits.maxEntryBytes + entryOverhead) {
      void this.#put(place, answer, ttl)
    }
  }

  /** Removes nothing: the revision is a part of the keys, so nothing finds an answer of another one. */
  removeStale(): void {}

  async clear(): Promise<number> {
    const reply = await this.#call('answer_clear', [])
    if (reply) return Number(reply[0])
    throw new GatewayError('LM-5003', 'the shared state is not available; try again', {
      retryAfter: 1_000,
    })
  }

  async #find({ key, writtenKey }: AnswerPlace, ttl: Millis): Promise<FoundAnswer | undefined> {
    const names = [this.#toName(key), this.#toName(writtenKey)]
    const found = await this.#callInTime('answer_find', [String(ttl), ...names])
    const [at, age, length, first] = found ?? []
    if (first === undefined) return undefined
    const name = at === '1' ? key : writtenKey
    const sealed = await this.#readRest(this.#toName(name), first, Number(length))
    const answer = sealed === undefined ? undefined : await this.#open(name, sealed)
    return answer && { answer, age: Number(age) }
  }

  /** Resolves to the whole text; to undefined when the answer is gone or the server too slow. */
  async #readRest(name: string, first: string, length: number): Promise<string | undefined> {
    let text = first
    while (text.length < length) {
      const [piece] = (await this.#callInTime('answer_read', [name, String(text.length)])) ?? []
      if (!piece) return undefined
      text += piece
    }
    return text
  }

  /** Like `#call`; resolves to undefined also when the server does not answer in time. */
  async #callInTime(name: string, args: readonly string[]): Promise<readonly string[] | undefined> {
    let isOver = () => {}
    const over = new Promise<undefined>((resolve) => {
      isOver = () => resolve(undefined)
    })
    const timer = this.#options.clock.schedule(maxWait, isOver)
    try {
      return await Promise.race([this.#call(name, args), over])
    } finally {
      timer.cancel()
    }
  }

  async #put(
    { key, writtenKey, generation }: AnswerPlace,
    answer: CachedAnswer,
    ttl: Millis,
  ): Promise<void> {
    const name = answer.isWritten ? writtenKey : key
    const label = createLabel(name, generation)
    const bytes = await this.#options.sealer.sealBytes(label, packAnswer(answer))
    const reply = await this.#call('answer_put', [
      this.#toName(name),
      // An older answer of a vendor would be found before this one.
      answer.isWritten ? this.#toName(key) : '',
      String(generation),
      String(ttl),
      String(this.#limits.maxBytes),
      encodeBase64(bytes),
    ])
    const evicted = Number(reply?.[0] ?? 0)
    for (let count = 0; count < evicted; count++) this.#options.onEvict()
  }

  /** Returns undefined for a text that was not sealed for this key since the last removal of all answers. */
  async #open(name: string, sealed: string): Promise<CachedAnswer | undefined> {
    const bytes = decodeBase64(sealed)
    const label = createLabel(name, this.#generation)
    const packed = bytes && this.#options.sealer.openBytes(label, bytes)
    const opened = await packed?.catch(() => undefined)
    return opened && unpackAnswer(opened)
  }

  /** Resolves to the reply without the state of the store; to undefined when the server is away. */
  async #call(name: string, args: readonly string[]): Promise<readonly string[] | undefined> {
    const reply = await this.#options.shared.call(name, args).catch(() => undefined)
    if (!reply) return undefined
    const [, generation, bytes, entries, ...rest] = reply
    this.#bytes = Number(bytes)
    this.#entries = Number(entries)
    this.#adopt(Number(generation))
    return rest
  }

  #adopt(generation: number): void {
    if (generation <= this.#generation) return
    this.#generation = generation
    this.#onClear()
  }

  #toName(key: string): string {
    return bytesToHex(blake3(encoder.encode(key), { key: this.#secret }))
  }
}

function createLabel(name: string, generation: number): SealLabel {
  return { purpose: 'cached-answer', name: `${generation} ${name}` }
}

const encoder = new TextEncoder()
