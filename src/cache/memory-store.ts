import { LRUCache } from 'lru-cache'
import type { Bytes, Millis } from '../core/ids.ts'
import type { BufferedBody, Clock } from '../core/ports.ts'
import type { AnswerOrigin, AnswerStore, CachedAnswer, FoundAnswer } from './answer-store.ts'

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

  get(key: string, ttl: Millis): FoundAnswer | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    const age = this.#clock.elapsed() - entry.storedAt
    if (age < ttl) return { answer: entry.answer, age }
    this.#entries.delete(key)
    return undefined
  }

  put(key: string, answer: CachedAnswer, origin: AnswerOrigin): void {
    const storedAt = this.#clock.elapsed()
    this.#entries.set(key, { answer: { ...answer, body: own(answer.body) }, origin, storedAt })
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  remove(isStale: (origin: AnswerOrigin) => boolean): number {
    const stale: string[] = []
    for (const [key, { origin }] of this.#entries.entries()) {
      if (isStale(origin)) stale.push(key)
    }
    for (const key of stale) this.#entries.delete(key)
    return stale.length
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
