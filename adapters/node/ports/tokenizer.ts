import { Worker } from 'node:worker_threads'
import type { TokenEncoding, Tokenizer } from '../../../src/index.ts'
import type { CountJob } from '../tokenizer/count.ts'

export interface NodeTokenizer extends Tokenizer {
  /** Ends the thread. Waiting and later counts resolve to undefined. */
  close(): void
}

export interface TokenizerOptions {
  /** Maximum time of one count, in milliseconds. */
  readonly timeLimit?: number
  /** Maximum number of waiting counts. */
  readonly maxWaiting?: number
  /** The module that the thread runs. */
  readonly entry?: URL
}

/** Maximum number of characters in all waiting counts. */
const maxWaitingCharacters = 16 * 1024 * 1024
/** The thread is not restarted after this many crashes in a row. */
const maxCrashes = 3

/** Creates a tokenizer that counts in one worker thread, started by the first count. */
export function nodeTokenizer(options: TokenizerOptions = {}): NodeTokenizer {
  const counter = new CountingThread(options)
  return {
    count: (encoding, texts) => counter.count(encoding, texts),
    close: () => counter.close(),
  }
}

type Counts = readonly number[] | undefined

interface Waiting {
  readonly job: CountJob
  readonly characters: number
  readonly resolve: (counts: Counts) => void
}

/** Gives the thread one job at a time, so that a crash loses only one count. */
class CountingThread {
  readonly #timeLimit: number
  readonly #maxWaiting: number
  readonly #entry: URL
  readonly #waiting: Waiting[] = []
  #characters = 0
  #worker: Worker | undefined
  #current: Waiting | undefined
  #scheduled: NodeJS.Immediate | undefined
  #crashes = 0
  #closed = false

  constructor({ timeLimit = 2_000, maxWaiting = 100, entry = ownEntry }: TokenizerOptions) {
    this.#timeLimit = timeLimit
    this.#maxWaiting = maxWaiting
    this.#entry = entry
  }

  count(encoding: TokenEncoding, texts: readonly string[]): Promise<Counts> {
    const characters = texts.reduce((sum, text) => sum + text.length, 0)
    const isFull =
      this.#waiting.length >= this.#maxWaiting ||
      this.#characters + characters > maxWaitingCharacters
    if (this.#closed || isFull || this.#crashes >= maxCrashes) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const job = { encoding, texts, timeLimit: this.#timeLimit }
      this.#waiting.push({ job, characters, resolve })
      this.#characters += characters
      // Deferred so that the response goes out first: starting the thread and copying megabytes of
      // text to it takes milliseconds.
      this.#scheduled ??= setImmediate(() => this.#next())
    })
  }

  close(): void {
    this.#closed = true
    this.#giveUp()
    void this.#worker?.terminate()
  }

  #next(): void {
    this.#scheduled = undefined
    if (this.#current) return
    this.#current = this.#waiting.shift()
    if (!this.#current) {
      this.#worker?.unref()
      return
    }
    this.#worker ??= this.#start()
    // The thread keeps the process alive only while it counts.
    this.#worker.ref()
    this.#worker.postMessage(this.#current.job)
  }

  #start(): Worker {
    const worker = new Worker(this.#entry)
    worker.on('message', (counts: Counts) => {
      this.#crashes = 0
      this.#finish(counts)
      this.#next()
    })
    // `exit` follows. Without a listener the error would end the process.
    worker.on('error', () => {})
    worker.on('exit', () => {
      this.#worker = undefined
      this.#crashes++
      this.#finish(undefined)
      if (this.#closed || this.#crashes >= maxCrashes) this.#giveUp()
      else this.#next()
    })
    return worker
  }

  #finish(counts: Counts): void {
    const current = this.#current
    if (!current) return
    this.#current = undefined
    this.#characters -= current.characters
    current.resolve(counts)
  }

  #giveUp(): void {
    clearImmediate(this.#scheduled)
    this.#finish(undefined)
    for (const { characters, resolve } of this.#waiting.splice(0)) {
      this.#characters -= characters
      resolve(undefined)
    }
  }
}

/** The module of the thread: bundled beside the host, or from the sources. */
const ownEntry = new URL(
  import.meta.url.endsWith('.ts') ? '../tokenizer/from-source.mjs' : './tokenizer-worker.js',
  import.meta.url,
)
