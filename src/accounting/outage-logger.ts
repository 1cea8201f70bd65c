import { errorFields } from '../core/error-fields.ts'
import type { Log } from '../core/ports.ts'
import { StoreFault } from '../store/index.ts'

export interface OutageLoggerOptions {
  readonly log: Log
  /** The message of the first failure. */
  readonly failing: string
  /** The message of the first success after it. */
  readonly recovered: string
}

/** Logs one line when an operation begins to fail and one when it works again. */
export class OutageLogger {
  readonly #options: OutageLoggerOptions
  #isFailing = false

  constructor(options: OutageLoggerOptions) {
    this.#options = options
  }

  recordFailure(error: unknown): void {
    if (this.#isFailing) return
    this.#isFailing = true
    this.#options.log.write('warn', this.#options.failing, toLogFields(error))
  }

  recordSuccess(): void {
    if (!this.#isFailing) return
    this.#isFailing = false
    this.#options.log.write('warn', this.#options.recovered)
  }
}

/** The message of a `StoreFault` is written for operators; other messages may hold secrets. */
function toLogFields(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof StoreFault)) return errorFields(error)
  return { reason: error.message, code: error.code }
}
