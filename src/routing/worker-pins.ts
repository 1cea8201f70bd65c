import type { Topic, Workers } from '../core/workers.ts'
import type { KnownPin, PinExchange } from './pins.ts'

interface WorkerPin {
  /** The number of the worker that has made or used it. */
  readonly from: number
  readonly known: KnownPin
}

const topic: Topic<WorkerPin, undefined> = { name: 'pins' }

/** The pins of workers without a shared state: each gives its own to the others. */
export class WorkerPins implements PinExchange {
  readonly #workers: Workers

  constructor(workers: Workers) {
    this.#workers = workers
  }

  follow(receive: (known: KnownPin) => void): void {
    this.#workers.answer(topic, ({ from, known }) => {
      if (from !== this.#workers.number) receive(known)
      return undefined
    })
  }

  read(): undefined {}

  async write(known: KnownPin): Promise<undefined> {
    const message = { from: this.#workers.number, known: { ...known, version: 0 } }
    await this.#workers.ask(topic, message).catch(() => [])
  }
}
