import type { Bytes, Millis } from '../core/ids.ts'
import type { Clock, Digest } from '../core/ports.ts'
import { sha256Hex } from '../wire/digest.ts'
import type { TimeSlice } from '../wire/time-slice.ts'
import { type KeyedRequest, writeKeyTexts } from './answer-key.ts'
import type { AnswerPlace, AnswerStore, CachedAnswer, PossibleAnswer } from './answer-store.ts'
import { Flight } from './flight.ts'
import { type MemoryLimits, MemoryStore } from './memory-store.ts'
import { Repeats } from './repeats.ts'
import type { SharedAnswers } from './shared-answers.ts'

/** The settings of the cache. */
export interface CachePolicy extends MemoryLimits {
  readonly enabled: boolean
  /** How long an answer is served. */
  readonly ttl: Millis
}

/** The settings, and the models whose answers may be kept. */
export interface CacheSettings {
  readonly policy: CachePolicy
  /** By the id of the model that is asked for. */
  readonly revisions: Pick<ReadonlyMap<string, string>, 'get'>
}

export interface AnswerCacheOptions {
  readonly clock: Clock
  /** Web Crypto by default. */
  readonly digest?: Digest | undefined
  /** Called for each answer that is removed to make room for another. */
  readonly onEvict: () => void
  /** The answers that all processes have in common, in place of the memory of this one. */
  readonly shared?: SharedAnswers | undefined
}

/** The answers to earlier requests. It holds nothing while it is off. */
export class AnswerCache {
  /** Empty while the cache is off. */
  readonly repeats = new Repeats()
  readonly #options: AnswerCacheOptions
  #settings: CacheSettings = off
  #store: AnswerStore | undefined
  /** The requests whose answers others may wait for, by key. */
  readonly #flights = new Map<string, Flight>()

  constructor(options: AnswerCacheOptions) {
    this.#options = options
    // Requests from now on must not get an answer that was asked for before.
    options.shared?.onClear(() => this.#flights.clear())
  }

  get bytes(): Bytes {
    return this.#store?.bytes ?? 0
  }

  get entries(): number {
    return this.#store?.entries ?? 0
  }

  /**
   * Applies new settings. Removes the answers of models that have changed or are gone, and all answers
   * when the limits have changed.
   */
  configure(settings: CacheSettings): void {
    const { policy: before } = this.#settings
    const { policy, revisions } = settings
    this.#settings = settings
    this.repeats.clear()
    const keepsStore =
      policy.enabled &&
      policy.maxBytes === before.maxBytes &&
      policy.maxEntryBytes === before.maxEntryBytes
    if (!keepsStore) this.#store = undefined
    if (policy.enabled) this.#store ??= this.#openStore(policy)
    this.#store?.removeStale(({ model, revision }) => revisions.get(model) !== revision)
  }

  /** Returns the digest of a text, at once where the host can do that. */
  digest(text: string): string | Promise<string> {
    const { digest = sha256Hex } = this.#options
    return digest(text)
  }

  /** Returns the place of a request; undefined when the request must not be cached. */
  async locate(request: KeyedRequest, slice: TimeSlice): Promise<AnswerPlace | undefined> {
    const texts = await writeKeyTexts(request, slice)
    if (!texts) return undefined
    const hash = this.digest(texts.answer)
    const writtenKey = typeof hash === 'string' ? hash : await hash
    const form = texts.form.length > maxFormLength ? await this.digest(texts.form) : texts.form
    const { model, revision } = request
    return {
      key: `${writtenKey} ${form}`,
      writtenKey,
      origin: { model, revision },
      generation: this.#store?.generation ?? 0,
    }
  }

  /** Returns the answer at a place, if it is fresh: one of the request's form before one of another. */
  find(place: AnswerPlace): PossibleAnswer {
    return this.#store?.find(place, this.#settings.policy.ttl)
  }

  /** Returns the running request at a place, if there is one. */
  findFlight({ key }: AnswerPlace): Flight | undefined {
    return this.#flights.get(key)
  }

  /** Lets equal requests wait for the one at this place, which must land its flight however it ends. */
  openFlight({ key }: AnswerPlace): Flight {
    const flight = new Flight(() => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    })
    this.#flights.set(key, flight)
    return flight
  }

  /** The maximum size of the body of an answer. */
  get maxBodyBytes(): Bytes {
    return this.#settings.policy.maxEntryBytes
  }

  /**
   * Keeps an answer, unless its request is older than the last change of its model, or than the last time
   * that the cache was cleared.
   */
  keep(place: AnswerPlace, answer: CachedAnswer): void {
    const { origin, generation } = place
    const { policy, revisions } = this.#settings
    if (revisions.get(origin.model) !== origin.revision) return
    if (generation === this.#store?.generation) this.#store.put(place, answer, policy.ttl)
  }

  /** Removes all answers, and returns how many they were. Rejects with LM-5003 when that fails. */
  async clear(): Promise<number> {
    const cleared = this.#store?.clear() ?? 0
    // Requests from now on must not get an answer that was asked for before.
    this.#flights.clear()
    return cleared
  }

  #openStore(limits: MemoryLimits): AnswerStore {
    const { shared, clock, onEvict } = this.#options
    return shared ? shared.use(limits) : new MemoryStore({ clock, onEvict, ...limits })
  }
}

/** A longer text is replaced by its digest, in characters: the client writes it. */
const maxFormLength = 64

const off: CacheSettings = {
  policy: { enabled: false, ttl: 0, maxBytes: 0, maxEntryBytes: 0 },
  revisions: new Map(),
}
