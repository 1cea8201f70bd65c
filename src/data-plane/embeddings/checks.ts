import {
  type EmbedCall,
  type EmbedImage,
  isTokenInput,
  iterateImages,
} from '../../core/embeddings.ts'
import type { EmbedEndpoint } from '../../core/endpoints.ts'
import { invalid } from '../../core/errors.ts'
import type { Model } from '../../core/provider.ts'
import { listNamed, type ModelRoute } from '../../core/route.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import {
  checkModality,
  checkReference,
  findReferenceOwner,
  isRemote,
} from '../images/check-images.ts'
import { type EmbedDoorCall, findNative, getEndpoint } from './door.ts'
import { bindInputType } from './input-type.ts'

/**
 * Checks a request against the whole chain, before any upstream call: token ids and other input that
 * a dialect cannot express (LM-1001), images (LM-1001, LM-2003), references (LM-2008). A link that speaks the API
 * of the client judges the request by itself, but for the modality.
 */
export function checkInput(call: EmbedDoorCall, route: ModelRoute): void {
  for (const set of call.sets) checkSet(set, route, (link) => findNative(call, link) !== undefined)
}

function checkSet(call: EmbedCall, route: ModelRoute, isNative: (link: Model) => boolean): void {
  for (const image of iterateImages(call.input)) {
    checkModality(image, route)
    if (listNamed(route).every(isNative)) continue
    const owner = findReferenceOwner(image.url)
    if (owner === undefined) checkAddress(image)
    else checkReference(image, owner, route)
  }
  for (const link of route.chain) {
    if (isNative(link)) continue
    const endpoint = getEndpoint(link)
    checkShape(call, link, endpoint)
    const bound = bindInputType(call, link)
    endpoint.check?.(bound)
  }
}

function checkShape({ input }: EmbedCall, { provider }: Model, endpoint: EmbedEndpoint): void {
  const who = `provider '${provider.name}' (${provider.kind.name})`
  if (isTokenInput(input) && !endpoint.supportsTokenIds) {
    const shape = input.shape === 'integers' ? 'array of integers' : 'array of integer arrays'
    // LangChain counts tokens itself and sends them, unless this option is off.
    const hint = 'send text; in LangChain, set check_embedding_ctx_length=False'
    throw invalid(`${who} does not accept pre-tokenized input (${shape}): ${hint}`, 'input')
  }
  const [image] = iterateImages(input)
  if (image && !endpoint.supportsImages) {
    throw invalid(`${who} does not embed images with this model`, image.path)
  }
  for (const { url, path } of iterateImages(input)) {
    if (findReferenceOwner(url) !== undefined && endpoint.supportsReference?.(url) !== true) {
      throw invalid(`${who} does not accept this image reference with this model`, path)
    }
  }
}

function checkAddress({ url, path }: EmbedImage): void {
  if (isRemote(url)) return
  const uri = parseDataUri(url)
  if (!uri) {
    throw invalid(`${path}: must be a base64 data URI, or an http or https address`, path)
  }
  if (!uri.mediaType.startsWith('image/')) {
    throw invalid(`${path}: must have an image media type`, path)
  }
}
