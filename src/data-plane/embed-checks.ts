import { type EmbedCall, type EmbedImage, isTokenInput, iterateImages } from '../core/embeddings.ts'
import { invalid } from '../core/errors.ts'
import type { EmbedEndpoint, Model, ModelRoute } from '../core/provider.ts'
import { parseDataUri } from '../wire/data-uri.ts'
import { checkModality, checkReference, findReferenceOwner, isRemote } from './images.ts'

/**
 * Judges a request over the whole chain, before any upstream call: token ids and what else a dialect
 * cannot say (LM-1001), and images by their address and by who may get them (LM-2003, LM-2008).
 */
export function checkInput(call: EmbedCall, route: ModelRoute): void {
  for (const image of iterateImages(call.input)) {
    checkModality(image, route)
    const owner = findReferenceOwner(image.url)
    if (owner === undefined) checkAddress(image)
    else checkReference(image, owner, route)
  }
  for (const link of route.chain) {
    // A fallback has every capability of the model that it backs.
    const endpoint = link.embed as EmbedEndpoint
    checkShape(call, link, endpoint)
    endpoint.check?.(call)
  }
}

function checkShape({ input }: EmbedCall, { provider }: Model, endpoint: EmbedEndpoint): void {
  const who = `provider '${provider.name}' (${provider.kind.name})`
  if (isTokenInput(input) && !endpoint.supportsTokenIds) {
    const shape = input.shape === 'integers' ? 'array of integers' : 'array of integer arrays'
    // LangChain counts tokens by itself, and sends them, unless it is told not to.
    const hint = 'send text; LangChain does with check_embedding_ctx_length=False'
    throw invalid(`${who} does not take pre-tokenized input (${shape}): ${hint}`, 'input')
  }
  const [image] = iterateImages(input)
  if (image && !endpoint.supportsImages) {
    throw invalid(`${who} does not embed images with this model`, image.path)
  }
  for (const { url, path } of iterateImages(input)) {
    if (findReferenceOwner(url) !== undefined && endpoint.supportsReference?.(url) !== true) {
      throw invalid(`${who} does not embed images by such a reference with this model`, path)
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
    throw invalid(`${path}: must hold an image, and say so in its media type`, path)
  }
}
