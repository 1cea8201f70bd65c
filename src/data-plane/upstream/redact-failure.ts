import type { UpstreamFailure } from '../../core/failure.ts'
import type { Provider } from '../../core/provider.ts'
import type { VendorError } from '../../core/vendor-error.ts'
import { createMask, type Mask } from '../../wire/mask.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'

/** How many characters of an upstream's message a client sees in an error message. */
const maxMessageLength = 300
/** How many bytes of an upstream's own error a client gets, as JSON. */
const maxErrorBytes = 4096
/** How many characters of one of its short members. */
const maxMemberLength = 200
/** How deep its other members may nest. */
const maxDepth = 8

/**
 * Redacts the texts of a failure: masks the provider's credentials and limits their length. A text is
 * cut after it is masked; otherwise a cut through a key would leave half of the key visible.
 */
export function redactFailure(failure: UpstreamFailure, provider: Provider): UpstreamFailure {
  switch (failure.kind) {
    case 'status':
    case 'error-frame':
    case 'malformed': {
      const mask = getMask(provider)
      const vendor = failure.vendor && redactVendorError(failure.vendor, mask)
      return failure.kind === 'malformed'
        ? { ...failure, detail: cut(mask(failure.detail), maxMessageLength), vendor }
        : { ...failure, message: cut(mask(failure.message), maxMessageLength), vendor }
    }
    default:
      return failure
  }
}

/** Returns an address of a provider for a reader: its credentials are masked. */
export function maskAddress(url: string, provider: Provider): string {
  return getMask(provider)(url.replace(secretParameter, '$1***'))
}

/** A query parameter that is named like a credential. */
const secretParameter = /([?&][^=&#]*(?:key|token|secret|sig|signature|password|code)=)[^&#]*/gi

const masks = new WeakMap<Provider | readonly string[], Mask>()

/** The mask of a provider, prepared once, because a mask looks for every part of the secrets. */
function getMask(provider: Provider): Mask {
  // A cloud has a new list whenever it has a new credential.
  const owner = provider.cloud?.secrets ?? provider
  const known = masks.get(owner)
  if (known) return known
  const secrets = provider.credentials.flatMap((one) => (one.kind === 'secret' ? one.value : []))
  const mask = createMask(...secrets, ...(provider.cloud?.secrets ?? []))
  masks.set(owner, mask)
  return mask
}

function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  return maxLength < 1 ? '' : `${text.slice(0, maxLength - 1)}…`
}

/** Redacts a vendor's error, and keeps as much of its message and details as fits. */
function redactVendorError(error: VendorError, mask: Mask): VendorError {
  const { code, message = '', details = {} } = error
  const member = (text?: string) => text && cut(mask(text), maxMemberLength)
  const named = {
    status: error.status,
    code: typeof code === 'string' ? member(code) : code,
    type: member(error.type),
    param: member(error.param),
  }
  // The message gets at most half of the room, the details get the rest.
  const room = maxErrorBytes - countJsonBytes(named)
  const text = cutToBytes(mask(message), room / 2)
  const kept: Record<string, unknown> = {}
  let left = room - countJsonBytes({ message: text, details: {} })
  for (const [name, value] of Object.entries(details)) {
    const shown = maskValue(value, mask, maxDepth)
    const frame = countJsonBytes({ [mask(name)]: '' })
    const fitting = fitValue(shown, left - frame)
    const size = frame + countJsonBytes(fitting)
    if (size > left || fitting === '') continue
    kept[mask(name)] = fitting
    left -= size
  }
  return {
    ...named,
    message: text === '' ? undefined : text,
    details: Object.keys(kept).length > 0 ? kept : undefined,
  }
}

/** Cuts the texts of a value that is too long, so that the short ones beside them remain. */
function fitValue(value: unknown, bytes: number): unknown {
  if (typeof value === 'string') return cutToBytes(value, bytes)
  return countJsonBytes(value) > bytes ? cutTexts(value) : value
}

/** The value is not nested deeper than `maxDepth`. */
function cutTexts(value: unknown): unknown {
  if (typeof value === 'string') return cut(value, maxMemberLength)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cutTexts)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, cutTexts(item)]))
}

function maskValue(value: unknown, mask: Mask, depth: number): unknown {
  if (typeof value === 'string') return mask(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return '…'
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask, depth - 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [mask(name), maskValue(item, mask, depth - 1)]),
  )
}

function cutToBytes(text: string, bytes: number): string {
  // Every character takes at least one byte.
  let shown = cut(text, Math.floor(bytes))
  while (shown !== '' && countJsonBytes(shown) > bytes)
    shown = cut(shown, Math.floor(shown.length / 2))
  return shown
}

function countJsonBytes(value: unknown): number {
  return countUtf8Bytes(JSON.stringify(value))
}
