import { toFailure, type UpstreamFailure } from '../../core/failure.ts'
import type { ByteSource, ImageFetchPort, UpstreamResponse } from '../../core/ports.ts'
import { version } from '../../core/version.ts'
import type { ImageFetchPolicy } from '../../snapshot/index.ts'
import { encodeBase64 } from '../../wire/base64.ts'
import { concat } from '../../wire/byte-list.ts'
import type { CancelScope } from '../../wire/cancel-scope.ts'
import { LightAbortController } from '../../wire/light-abort-controller.ts'
import { isAddress, isPublicAddress } from '../../wire/public-address.ts'
import { findPolicyViolation, getHost, parseImageType } from './policy.ts'

export interface ImageFetch {
  readonly policy: ImageFetchPolicy
  readonly port: ImageFetchPort
  readonly scope: CancelScope
}

/** A fetched image as a data URI, or the reason without one: a guard `refused` it, or the host `failed`. */
export type FetchedImage =
  | { readonly kind: 'image'; readonly uri: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }

const maxRedirects = 3

/** Fetches one image under one timeout. The target of every redirect is checked like the first URL. */
export async function fetchImage(address: string, fetch: ImageFetch): Promise<FetchedImage> {
  const scope = fetch.scope.open()
  scope.endAfter(fetch.policy.timeout, { kind: 'timeout', limit: 'read' })
  const cancel = new LightAbortController()
  scope.onEnd(() => cancel.abort())
  try {
    if (scope.ended) return failed('cancelled')
    let url = parseUrl(address)
    for (let hops = 0; url && hops <= maxRedirects; hops++) {
      const step = await visit(url, { ...fetch, scope }, cancel)
      if (!(step instanceof URL)) return step
      url = step
    }
    return url ? refused('redirects') : refused('address')
  } catch (error) {
    const failure = scope.ended ?? toFailure(error)
    // The queue has overflowed, so more arrived at once than the size limit allows.
    return failure.kind === 'slow-client' ? refused('size') : failed(getReason(failure))
  } finally {
    cancel.abort()
    scope.close()
  }
}

/** Requests one URL. Resolves to the image, to the reason without one, or to the target of a redirect. */
async function visit(
  url: URL,
  { policy, port, scope }: ImageFetch,
  signal: LightAbortController,
): Promise<FetchedImage | URL> {
  const objection = findPolicyViolation(url, policy)
  if (objection !== undefined) return refused(objection)
  const host = getHost(url)
  const addresses = isAddress(host) ? [host] : await scope.race(port.resolve(host, { url, signal }))
  const isResolved = addresses !== 'at-proxy'
  if (isResolved && addresses.length === 0) return failed('no address')
  // Every address must be public: a later lookup may return them in another order.
  if (isResolved && !addresses.every(isPublicAddress)) return refused('private address')
  const address = isResolved ? addresses[0] : undefined
  const response = await scope.race(
    port.fetch({
      url: url.href,
      address,
      headers: { accept: 'image/*', 'user-agent': `model-gateway/${version}` },
      queueLimit: policy.maxBytes + 1,
      signal,
    }),
  )
  return readImage(response, url, { policy, scope })
}

async function readImage(
  { status, header, body }: UpstreamResponse,
  url: URL,
  { policy: { maxBytes }, scope }: Pick<ImageFetch, 'policy' | 'scope'>,
): Promise<FetchedImage | URL> {
  if (status >= 300 && status < 400) {
    body.cancel()
    const location = header('location')
    const next = location === undefined ? undefined : parseUrl(location, url)
    return next ?? failed('redirect without address')
  }
  if (status < 200 || status >= 300) return failed(`status ${status}`)
  const type = parseImageType(header('content-type'))
  if (type === undefined) return refused('type')
  if (Number(header('content-length') ?? 0) > maxBytes) return refused('size')
  const bytes = await readUpTo(body, maxBytes, scope)
  if (!bytes) return refused('size')
  return bytes.length === 0
    ? failed('empty')
    : { kind: 'image', uri: `data:${type};base64,${encodeBase64(bytes)}` }
}

/** Reads the whole body; undefined as soon as it exceeds the limit. */
async function readUpTo(
  source: ByteSource,
  limit: number,
  scope: CancelScope,
): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = []
  let length = 0
  for (;;) {
    const piece = await scope.race(source.read())
    if (piece === undefined) return concat(pieces, length)
    length += piece.length
    if (length > limit) return undefined
    pieces.push(piece)
  }
}

function parseUrl(address: string, base?: URL): URL | undefined {
  return URL.canParse(address, base?.href) ? new URL(address, base) : undefined
}

function refused(reason: string): FetchedImage {
  return { kind: 'refused', reason }
}

function failed(reason: string): FetchedImage {
  return { kind: 'failed', reason }
}

function getReason(failure: UpstreamFailure): string {
  return failure.kind === 'network' ? failure.reason : failure.kind
}
