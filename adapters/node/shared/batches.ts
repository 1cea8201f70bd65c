import type { BatchedCall, Millis } from '../../../src/index.ts'

/** A call that may wait for others is sent after this time at the latest. */
const maxWait: Millis = 2

/** Calls per command, so that no command holds the server up. */
const maxCalls = 64

/** Runs a function with one argument in JSON, and returns its reply in JSON. */
export type Run = (name: string, args: string) => Promise<string>

export interface BatchOptions {
  readonly run: Run
  /** Whether the server has refused the last command. It may run its calls one by one then. */
  readonly isRefused: () => boolean
}

interface Waiting extends Omit<BatchedCall, 'canWait'> {
  readonly resolve: (reply: readonly unknown[] | Promise<readonly unknown[]>) => void
  readonly reject: (reason: unknown) => void
}

/** Gathers the calls of requests that go on together, with those before that may wait, into one command. */
export class Batches {
  readonly #options: BatchOptions
  #waiting: Waiting[] = []
  #isDue = false
  #isScheduled = false

  constructor(options: BatchOptions) {
    this.#options = options
  }

  add({ name, args, canWait }: BatchedCall): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ name, args, resolve, reject })
      if (canWait) this.#sendLater()
      else this.#sendSoon()
    })
  }

  /** Sends the calls now unless all of them can wait. */
  flush(): void {
    if (this.#isDue) this.#send()
  }

  #sendSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    process.nextTick(() => {
      this.#isDue = false
      this.#send()
    })
  }

  #sendLater(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setTimeout(() => {
      this.#isScheduled = false
      this.#send()
    }, maxWait)
  }

  #send(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (let at = 0; at < waiting.length; at += maxCalls) {
      void this.#runAll(waiting.slice(at, at + maxCalls))
    }
  }

  async #runAll(calls: readonly Waiting[]): Promise<void> {
    const written = calls.map(({ name, args }): Written => [name, args()])
    const [only] = written
    if (only && written.length === 1) return calls[0]?.resolve(this.#runAlone(only))
    const { run, isRefused } = this.#options
    try {
      // A reply is a list; an error is a text.
      const replies: readonly (readonly unknown[] | string)[] = JSON.parse(
        await run('batch', JSON.stringify(written)),
      )
      for (const [at, { resolve, reject }] of calls.entries()) {
        const reply = replies[at]
        if (typeof reply === 'object') resolve(reply)
        else reject(new Error(reply))
      }
    } catch (error) {
      // A server that is full runs those functions that free memory.
      for (const [at, { resolve, reject }] of calls.entries()) {
        const one = written[at]
        if (one && isRefused()) resolve(this.#runAlone(one))
        else reject(error)
      }
    }
  }

  async #runAlone([name, args]: Written): Promise<readonly unknown[]> {
    return JSON.parse(await this.#options.run(name, JSON.stringify(args)))
  }
}

type Written = readonly [name: string, args: readonly unknown[]]
