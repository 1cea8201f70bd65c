import type { AnswerCache, AnswerPlace } from '../../cache/index.ts'
import type { Account } from '../../core/accounts.ts'
import type { Api } from '../../core/capability.ts'
import type { ModelRoute } from '../../core/route.ts'
import { largeBodyBytes } from '../../wire/body-limiter.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'

/** A request to a model while the cache is on. */
export interface CacheLookup {
  readonly cache: AnswerCache
  readonly request: Request
  /** Its body, in which the gateway has found no error. */
  readonly bytes: Uint8Array
  /** For reading a large body in steps. */
  readonly slice: TimeSlice
  readonly api: Api
  readonly isStream: boolean
  readonly streamType: string | undefined
  readonly route: ModelRoute
  /** The account that the request would be charged to. */
  readonly account: Account | undefined
}

/** The place of a request in the cache. */
export interface CachePlace {
  readonly place: AnswerPlace
  /** False when the client asks for a new answer. */
  readonly mayRead: boolean
}

/** Finds the place of a request; undefined when the cache is neither read nor written for it. */
export async function locateRequest(lookup: CacheLookup): Promise<CachePlace | undefined> {
  const { cache, request, bytes, api, isStream, streamType, route, account } = lookup
  const directive = readDirective(request.headers)
  const revision = route.cache?.revision
  const mayCache = directive !== 'no-store' && bytes.length <= largeBodyBytes
  if (revision === undefined || !mayCache) return undefined
  const model = route.id
  const vendorFields = listVendorFields(api, request)
  const place = await cache.locate(
    { api, model, revision, account, isStream, streamType, bytes, vendorFields },
    lookup.slice,
  )
  return place && { place, mayRead: directive !== 'no-cache' }
}

type Directive = 'no-cache' | 'no-store' | undefined

/** Reads the header of a request. The stronger directive wins; unknown ones are ignored. */
function readDirective(headers: Headers): Directive {
  const value = headers.get('x-gateway-cache')
  if (value === null) return undefined
  const given = new Set(value.toLowerCase().split(/[\s,]+/))
  if (given.has('no-store')) return 'no-store'
  return given.has('no-cache') ? 'no-cache' : undefined
}

/** The APIs of which neither a header nor the query reaches a vendor. */
const bodyOnly: ReadonlySet<Api> = new Set(['chat', 'rerank', 'gemini'])

/**
 * The APIs whose addresses say what the body does not: the model and the form of the answer, or which forms of a
 * request are accepted.
 */
const addressed: ReadonlySet<Api> = new Set(['gemini', 'embeddings', 'decisions'])

/** Lists what the address of a request says in place of its body. */
export function listAddressFields(api: Api, { url }: Request): readonly string[] {
  if (!addressed.has(api)) return []
  const { pathname, searchParams } = new URL(url)
  return [pathname, searchParams.get('alt') ?? searchParams.get('$alt') ?? '']
}

/** Lists everything besides the body that may reach the vendor. */
export function listVendorFields(api: Api, { headers, url }: Request): readonly string[] {
  // The methods of one API may have equal bodies, and answers in other forms.
  if (api === 'embeddings') return /:[A-Za-z]+(?=$|\?)/.exec(url) ?? []
  if (bodyOnly.has(api)) return []
  const fields: string[] = []
  headers.forEach((value, name) => {
    if (/^(?:anthropic|openai|typesafe)-/i.test(name))
      fields.push(`${name.toLowerCase()}: ${value}`)
  })
  const query = /\?[^#]*/.exec(url)?.[0] ?? ''
  return [...fields.sort(), query]
}
