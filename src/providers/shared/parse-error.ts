import type { UpstreamError } from '../../core/provider.ts'
import { parseVendorError } from './vendor-error.ts'

/** The vendor's own meaning of a status, where it differs from everyone's. */
export type MapStatus = (status: number, message: string) => number

/** Judges a refused request by its status and the text in its body. */
export function errorParser(
  mapStatus?: MapStatus,
): (status: number, body: string) => UpstreamError {
  return (status, body) => {
    const error = parseVendorError(body)
    return { ...error, status: mapStatus?.(status, error.message) ?? status }
  }
}
