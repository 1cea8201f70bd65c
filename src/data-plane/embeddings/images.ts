import {
  type EmbedCall,
  type EmbedImage,
  type EmbedPart,
  iterateImages,
  type MixedItem,
} from '../../core/embeddings.ts'
import { GatewayError } from '../../core/errors.ts'
import { UpstreamFault } from '../../core/failure.ts'
import type { Media } from '../../core/request-record.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import { runInParallel } from '../../wire/in-parallel.ts'
import { isRemote } from '../images/check-images.ts'
import { fetchImage, type ImageFetch } from '../images/fetch.ts'
import { findAddressRefusal } from '../images/policy.ts'
import type { RequestContext } from '../request/context.ts'

/** Images of one request that are fetched at the same time. */
const concurrency = 4

/**
 * Resolves to the sets of a request with each remote image replaced by a data URI, the only form that dialects
 * accept. LM-2005 when fetching is off, LM-2006 when a guard refuses an address, LM-2007 when the
 * image's host fails.
 */
export async function fetchImages(
  sets: readonly EmbedCall[],
  context: RequestContext,
): Promise<readonly EmbedCall[]> {
  const plan = planFetch(sets, context)
  if (plan.kind === 'refused') throw logRefusal(plan, context)
  if (plan.kind === 'nothing') return sets
  const fetched = await fetchAll(plan.images, { ...plan, scope: context.scope.open() }, context)
  const local = ({ image }: EmbedPart & { kind: 'image' }): EmbedPart => ({
    kind: 'image',
    image: { ...image, url: fetched.get(image.url) ?? image.url },
  })
  const toLocal = (item: MixedItem): MixedItem =>
    typeof item === 'string'
      ? item
      : item.map((part) => (part.kind === 'image' ? local(part) : part))
  return sets.map((set): EmbedCall => {
    const { input } = set
    if (input.shape !== 'parts') return set
    return { ...set, input: { shape: 'parts', items: input.items.map(toLocal) } }
  })
}

/** Which images of a request are to be fetched, or why they will not be. */
export type FetchPlan =
  | { readonly kind: 'nothing' }
  | (Pick<ImageFetch, 'policy' | 'port'> & {
      readonly kind: 'fetch'
      readonly images: readonly EmbedImage[]
    })
  /** `reason` is only logged, because it could reveal the gateway's network to a client. */
  | { readonly kind: 'refused'; readonly error: GatewayError; readonly reason?: string }

/** Plans to fetch the remote images of a request, with the checks that need no network. */
export function planFetch(sets: readonly EmbedCall[], context: FetchContext): FetchPlan {
  const images = listImages(sets).filter(({ url }) => isRemote(url))
  const [first] = images
  if (!first) return { kind: 'nothing' }
  const policy = context.snapshot.imageFetch
  const { imageFetch: port } = context
  if (!policy.enabled || !port) return { kind: 'refused', error: fetchingIsOff(first) }
  const excess = images[policy.maxImages]
  if (excess) return refuse(excess, 'count')
  for (const image of images) {
    const reason = findAddressRefusal(image.url, policy)
    if (reason !== undefined) return refuse(image, reason)
  }
  return { kind: 'fetch', images, policy, port }
}

type FetchContext = Pick<RequestContext, 'snapshot' | 'imageFetch'>

/** Resolves to the data URI of each address. The first image that fails ends the other fetches. */
async function fetchAll(
  images: readonly EmbedImage[],
  fetch: ImageFetch,
  context: RequestContext,
): Promise<ReadonlyMap<string, string>> {
  const fetched = new Map<string, string>()
  const distinct = [...new Map(images.map((image) => [image.url, image])).values()]
  try {
    await runInParallel(distinct, concurrency, async (image) => {
      const result = await fetchImage(image.url, fetch)
      if (context.scope.ended) throw new UpstreamFault(context.scope.ended)
      switch (result.kind) {
        case 'image':
          fetched.set(image.url, result.uri)
          return
        case 'refused':
          throw logRefusal(refuse(image, result.reason), context)
        case 'failed':
          throw fail(image, result.reason, context)
        default:
          return result satisfies never
      }
    })
  } finally {
    fetch.scope.end({ kind: 'abandoned' })
  }
  return fetched
}

/** Counts the images of a request, and their bytes when decoded. */
export function measureMedia(sets: readonly EmbedCall[]): Media {
  const sizes = listImages(sets).map(({ url }) => decodedLength(parseDataUri(url)?.payload ?? ''))
  return { count: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}

function listImages(sets: readonly EmbedCall[]): readonly EmbedImage[] {
  return sets.flatMap(({ input }) => [...iterateImages(input)])
}

/** The number of bytes that a base64 text encodes. Its padding encodes none. */
function decodedLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return Math.floor(((base64.length - padding) * 3) / 4)
}

function fetchingIsOff({ path }: EmbedImage): GatewayError {
  const message = 'image_fetch is off, so remote images are not fetched; send a data URI'
  return new GatewayError('LM-2005', message, { param: path })
}

function refuse({ path }: EmbedImage, reason: string): FetchRefusal {
  const error = new GatewayError('LM-2006', 'the remote image was refused', { param: path })
  return { kind: 'refused', error, reason }
}

type FetchRefusal = Extract<FetchPlan, { readonly kind: 'refused' }>

function logRefusal({ error, reason }: FetchRefusal, { log, id }: RequestContext): GatewayError {
  if (reason !== undefined) log.write('warn', 'image refused', { request_id: id, reason })
  return error
}

function fail({ path }: EmbedImage, reason: string, { log, id }: RequestContext): GatewayError {
  log.write('info', 'image not fetched', { request_id: id, reason })
  return new GatewayError('LM-2007', 'the remote image could not be fetched', { param: path })
}
