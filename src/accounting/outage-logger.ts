import { errorFields } from '../core/error-fields.ts'
import type { Log } from '../core/ports.ts'
import { StoreFault } from '../store/index.ts'

export interface OutageLoggerOptions {
  readonly log: Log
  readonly failing: string
  readonly recovered: string
}

/** One line when something begins to fail and one when it works again, however often it is tried. */
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

/** A fault of the database has a message for operators; other errors may hold what is not for logs. */
function toLogFields(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof StoreFault)) return errorFields(error)
  return { reason: error.message, code: error.code }
}
