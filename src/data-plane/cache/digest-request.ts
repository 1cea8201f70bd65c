import { type AnswerCache, toScope } from '../../cache/index.ts'
import type { Account } from '../../core/accounts.ts'
import type { Api } from '../../core/capability.ts'
import { strictUtf8 } from '../../wire/json/steps.ts'
import { listAddressFields, listVendorFields } from './lookup.ts'

export interface ReceivedBytes {
  readonly cache: AnswerCache
  readonly request: Request
  readonly bytes: Uint8Array
  readonly api: Api
  readonly account: Account | undefined
}

/** Longer bodies are read again: their digest would take as long. */
const maxBytes = 64 * 1024

/**
 * Returns the digest of everything that decides how a request is read and checked, besides the
 * configuration. Undefined for a request that says how to use the cache, or that is not text.
 */
export function digestRequest({
  cache,
  request,
  bytes,
  api,
  account,
}: ReceivedBytes): string | Promise<string> | undefined {
  if (bytes.length > maxBytes || request.headers.has('x-gateway-cache')) return undefined
  const body = decode(bytes)
  if (body === undefined) return undefined
  const fields = [...listVendorFields(api, request), ...listAddressFields(api, request)]
  const parts = [api, ...toScope(account), ...fields]
  return cache.digest(`${JSON.stringify(parts)}${body}`)
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return undefined
  }
}
