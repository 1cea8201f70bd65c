import type { ImagePart } from '../../core/chat.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Model } from '../../core/provider.ts'
import type { ReferenceOwner } from '../../core/provider-kind.ts'
import { listNamed, type ModelRoute } from '../../core/route.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'

/**
 * Checks every image of a request against the whole chain, before any upstream call: the modality
 * (LM-2003), references to a vendor's file store (LM-2008), remote addresses (LM-2004).
 */
export function checkImages(
  images: readonly ImagePart[],
  route: ModelRoute,
  isNative: IsNative = never,
): void {
  for (const image of images) {
    checkModality(image, route)
    const owner = findReferenceOwner(image.url)
    if (owner === undefined) {
      if (isRemote(image.url)) checkRemote(image, route, isNative)
    } else if (!listNamed(route).some(isNative)) checkReference(image, owner, route)
  }
}

/** Whether a link gets the client's own bytes, so that its vendor judges every address. */
export type IsNative = (link: Model) => boolean

const never: IsNative = () => false

/** Throws LM-2003 when a link of the chain does not accept images. */
export function checkModality(
  { path }: Pick<ImagePart, 'path'>,
  { id, modalities, chain }: ModelRoute,
): void {
  if (!modalities.includes('image')) {
    throw new GatewayError('LM-2003', `model ${id} does not accept images`, { param: path })
  }
  const blind = chain.find((link) => !link.modalities.includes('image'))
  if (blind === undefined) return
  const message = `model ${id} accepts images, but its fallback ${blind.id} does not`
  throw new GatewayError('LM-2003', message, { param: path })
}

/** Throws LM-2008 when a reference is into a file store that no model of this id can read. */
export function checkReference(
  { path }: Pick<ImagePart, 'path'>,
  owner: ReferenceOwner,
  route: ModelRoute,
): void {
  if (listNamed(route).some(({ provider }) => provider.kind.references === owner)) return
  const message = `an image reference of ${owner} cannot be sent to model ${route.id}, which another vendor serves`
  throw new GatewayError('LM-2008', message, { param: path })
}

/** Throws `UntranslatableError` when an image refers to the file store of another vendor than the link's. */
export function checkReferences(images: readonly ImagePart[], { id, provider }: Model): void {
  for (const { url, path } of images) {
    const owner = findReferenceOwner(url)
    if (owner === undefined || owner === provider.kind.references) continue
    throw new UntranslatableError(
      `an image reference of ${owner} cannot be sent to model ${id}`,
      path,
    )
  }
}

function checkRemote({ url, path }: ImagePart, { chain }: ModelRoute, isNative: IsNative): void {
  const local = chain.find((link) => !isNative(link) && !acceptsAddress(link, url))
  if (local === undefined) return
  const { id, provider } = local
  const message = provider.forwardsMediaUrls
    ? `model ${id} accepts images only as data URIs or at https addresses`
    : `model ${id} accepts images only as data URIs, not at remote addresses`
  throw new GatewayError('LM-2004', message, { param: path })
}

function acceptsAddress({ provider }: Model, url: string): boolean {
  return provider.kind.canFetchImages || (provider.forwardsMediaUrls && /^https:/i.test(url))
}

const googleReferences = [
  /^gs:\/\/[^/]+\/.+/,
  /^https:\/\/generativelanguage\.googleapis\.com\/v[0-9a-z]+\/files\/[^/?#]+$/i,
  /^files\/[A-Za-z0-9_-]+$/,
]

/** Returns the vendor whose file store an address refers to, if it refers to one. */
export function findReferenceOwner(url: string): ReferenceOwner | undefined {
  if (url.startsWith('anthropic-file:')) return 'anthropic'
  return googleReferences.some((pattern) => pattern.test(url)) ? 'google' : undefined
}

/** True for an address from which the image would have to be fetched. */
export function isRemote(url: string): boolean {
  return /^https?:/i.test(url)
}
