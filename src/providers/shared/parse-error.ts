import type { UpstreamError } from '../../core/provider.ts'
import { readError } from './vendor-error.ts'

/** The vendor's own meaning of a status, where it differs from everyone's. */
export type StatusOf = (status: number, message: string) => number

/** Judges a refused request by its status and the text in its body. */
export function errorParser(statusOf?: StatusOf): (status: number, body: string) => UpstreamError {
  return (status, body) => {
    const error = readError(body)
    return { ...error, status: statusOf?.(status, error.message) ?? status }
  }
}
