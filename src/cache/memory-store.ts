import { LRUCache } from 'lru-cache'
import type { Bytes, Millis } from '../core/ids.ts'
import type { BufferedBody, Clock } from '../core/ports.ts'
import type {
  AnswerOrigin,
  AnswerPlace,
  AnswerStore,
  CachedAnswer,
  FoundAnswer,
} from './answer-store.ts'

/**
 * The memory that an answer takes besides its body, rounded up: its key, its other fields, and its places
 * in the tables of the cache.
 */
export const entryOverhead: Bytes = 1024

export interface MemoryLimits {
  /** The sum over all answers. */
  readonly maxBytes: Bytes
  /** For a single answer. */
  readonly maxEntryBytes: Bytes
}

export interface MemoryStoreOptions extends MemoryLimits {
  readonly clock: Clock
  /** Called for each answer that is removed to make room for another. */
  readonly onEvict: () => void
}

interface Entry {
  readonly answer: CachedAnswer
  readonly origin: AnswerOrigin
  /** On the clock that never jumps. */
  readonly storedAt: Millis
}

/** Keeps answers in the memory of this process. The one that was used least recently goes first. */
export class MemoryStore implements AnswerStore {
  readonly #clock: Clock
  readonly #entries: LRUCache<string, Entry>
  #generation = 0

  constructor({ clock, onEvict, maxBytes, maxEntryBytes }: MemoryStoreOptions) {
    this.#clock = clock
    this.#entries = new LRUCache({
      // The overhead bounds their number too. `max` would reserve the tables for all of them at once.
      maxSize: maxBytes,
      maxEntrySize: Math.min(maxBytes, maxEntryBytes + entryOverhead),
      sizeCalculation: ({ answer }) => measureAnswer(answer),
      dispose: (_entry, _key, reason) => {
        if (reason === 'evict') onEvict()
      },
    })
  }

  get bytes(): Bytes {
    return this.#entries.calculatedSize
  }

  get entries(): number {
    return this.#entries.size
  }

  get generation(): number {
    return this.#generation
  }

  find({ key, writtenKey }: AnswerPlace, ttl: Millis): FoundAnswer | undefined {
    return this.#get(key, ttl) ?? this.#get(writtenKey, ttl)
  }

  put({ key, writtenKey, origin }: AnswerPlace, answer: CachedAnswer): void {
    // An older answer of a vendor would be found before this one.
    if (answer.isWritten) this.#entries.delete(key)
    const storedAt = this.#clock.elapsed()
    const entry = { answer: { ...answer, body: own(answer.body) }, origin, storedAt }
    this.#entries.set(answer.isWritten ? writtenKey : key, entry)
  }

  removeStale(isStale: (origin: AnswerOrigin) => boolean): void {
    const stale: string[] = []
    for (const [key, { origin }] of this.#entries.entries()) {
      if (isStale(origin)) stale.push(key)
    }
    for (const key of stale) this.#entries.delete(key)
  }

  clear(): number {
    const { size } = this.#entries
    this.#entries.clear()
    this.#generation++
    return size
  }

  #get(key: string, ttl: Millis): FoundAnswer | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    const age = this.#clock.elapsed() - entry.storedAt
    if (age < ttl) return { answer: entry.answer, age }
    this.#entries.delete(key)
    return undefined
  }
}

/** The memory that an answer takes. */
export function measureAnswer({ body, servedBy, dropped }: CachedAnswer): Bytes {
  const texts = [servedBy, ...dropped].reduce((sum, { length }) => sum + 2 * length, 0)
  return body.length + texts + entryOverhead
}

/** Copies bytes: as a view they could keep a larger piece of memory alive. */
function own(body: BufferedBody): BufferedBody {
  return typeof body === 'string' ? body : new Uint8Array(body)
}
