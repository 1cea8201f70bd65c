import { isTable } from '../../../src/config/index.ts'
import { CommandFailure } from '../failures/command-failure.ts'

export interface AdminAnswer {
  readonly status: number
  /** The body. */
  readonly text: string
  /** The gateway in messages, for example `the gateway at http://127.0.0.1:8080`. */
  readonly gateway: string
}

/**
 * Returns the JSON of an answer of the admin API; undefined without a body. Throws a
 * `CommandFailure` for an error: code 2 when the API refuses a value, else 1.
 */
export function readAdminAnswer({ status, text, gateway }: AdminAnswer): unknown {
  if (status === 204) return undefined
  const body = parseJson(text)
  if (status >= 200 && status < 300 && body !== undefined) return body
  const error = isTable(body) && isTable(body['error']) ? body['error'] : {}
  const { code, message } = error
  switch (code) {
    case 'LM-4004':
      throw new CommandFailure(1, `GATEWAY_MASTER_KEY: is not the master key of ${gateway}`)
    case 'LM-1003':
      throw new CommandFailure(
        2,
        `${gateway} has no such admin route: auth.enabled is false there, or it has another version`,
      )
    case 'LM-1001':
      throw new CommandFailure(2, String(message))
    default:
      throw new CommandFailure(1, describe({ status, text, gateway }, code, message))
  }
}

function describe({ status, gateway }: AdminAnswer, code: unknown, message: unknown): string {
  if (typeof message !== 'string') return `${gateway} answered with status ${status}, without JSON`
  return `${gateway} answered ${String(code)}: ${message}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
