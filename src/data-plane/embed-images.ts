import {
  type EmbedCall,
  type EmbedImage,
  type EmbedPart,
  iterateImages,
  type MixedItem,
} from '../core/embeddings.ts'
import { GatewayError } from '../core/errors.ts'
import { UpstreamFault } from '../core/failure.ts'
import { parseDataUri } from '../wire/data-uri.ts'
import { inParallel } from '../wire/in-parallel.ts'
import type { Exchange } from './exchange.ts'
import { fetchImage, type ImageFetch } from './image-fetch.ts'
import { isRemote } from './images.ts'

/** Images that are fetched at the same time. */
const concurrency = 4

/**
 * The request with every remote image fetched and put in as a data URI, which is all that dialects
 * ever see: LM-2005 when fetching is off, LM-2006 when a guard refuses, LM-2007 when the host fails.
 */
export async function withFetchedImages(call: EmbedCall, exchange: Exchange): Promise<EmbedCall> {
  const remote = [...iterateImages(call.input)].filter(({ url }) => isRemote(url))
  const [first] = remote
  if (!first || call.input.shape !== 'parts') return call
  const policy = exchange.snapshot.imageFetch
  const { imageFetch: port, scope } = exchange
  if (!policy.enabled || !port) throw notFetching(first)
  const excess = remote[policy.maxImages]
  if (excess) throw refused(excess, 'count', exchange)
  const fetched = await fetchAll(remote, { policy, port, scope: scope.open() }, exchange)
  const local = ({ image }: EmbedPart & { kind: 'image' }): EmbedPart => ({
    kind: 'image',
    image: { ...image, url: fetched.get(image.url) ?? image.url },
  })
  const items = call.input.items.map(
    (item): MixedItem =>
      typeof item === 'string'
        ? item
        : item.map((part) => (part.kind === 'image' ? local(part) : part)),
  )
  return { ...call, input: { shape: 'parts', items } }
}

/** The data URI of every address. The first image that there is none of ends the others. */
async function fetchAll(
  images: readonly EmbedImage[],
  fetch: ImageFetch,
  exchange: Exchange,
): Promise<ReadonlyMap<string, string>> {
  const fetched = new Map<string, string>()
  const distinct = [...new Map(images.map((image) => [image.url, image])).values()]
  try {
    await inParallel(distinct, concurrency, async (image) => {
      const result = await fetchImage(image.url, fetch)
      if (exchange.scope.ended) throw new UpstreamFault(exchange.scope.ended)
      switch (result.kind) {
        case 'image':
          fetched.set(image.url, result.uri)
          return
        case 'refused':
          throw refused(image, result.reason, exchange)
        case 'failed':
          throw failed(image, result.reason, exchange)
        default:
          return result satisfies never
      }
    })
  } finally {
    fetch.scope.end({ kind: 'abandoned' })
  }
  return fetched
}

/** The images of a request and their bytes, decoded. */
export function mediaOf({ input }: EmbedCall): { count: number; bytes: number } {
  const sizes = [...iterateImages(input)].map(({ url }) =>
    decodedLength(parseDataUri(url)?.payload ?? ''),
  )
  return { count: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}

/** The bytes that base64 stands for: its padding stands for none. */
function decodedLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return Math.floor(((base64.length - padding) * 3) / 4)
}

function notFetching({ path }: EmbedImage): GatewayError {
  const message = 'remote images are not fetched, since image_fetch is off; send a data URI'
  return new GatewayError('LM-2005', message, { param: path })
}

/** The reason could tell a client what the gateway's network looks like, so it is only logged. */
function refused({ path }: EmbedImage, reason: string, { log, id }: Exchange): GatewayError {
  log.write('warn', 'image refused', { request_id: id, reason })
  return new GatewayError('LM-2006', 'the remote image is refused', { param: path })
}

function failed({ path }: EmbedImage, reason: string, { log, id }: Exchange): GatewayError {
  log.write('info', 'image not fetched', { request_id: id, reason })
  return new GatewayError('LM-2007', 'the remote image could not be fetched', { param: path })
}
