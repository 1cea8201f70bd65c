import type { UpstreamFailure } from '../core/failure.ts'
import type { Provider } from '../core/provider.ts'
import type { VendorError } from '../core/vendor-error.ts'
import { createMask, type Mask } from '../wire/mask.ts'
import { countUtf8Bytes } from '../wire/utf8.ts'

/** The most of an upstream's own words that stands in a message, in characters. */
const maxMessageLength = 300
/** The most of an upstream's own error that a client gets, in bytes of JSON. */
const maxErrorBytes = 4096
/** Of one short member of it, in characters. */
const maxMemberLength = 200
/** How deep its further members may nest. */
const maxDepth = 8

/**
 * A failure whose text may be shown: without the provider's credential, and not endless. It is cut
 * last, or half of a key that stands across the cut would stay.
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

const masks = new WeakMap<Provider, Mask>()

/** To look for every part of a secret takes some preparation, done once a provider. */
function getMask(provider: Provider): Mask {
  const known = masks.get(provider)
  if (known) return known
  const { credential } = provider
  const mask = createMask(credential.kind === 'secret' ? credential.value : undefined)
  masks.set(provider, mask)
  return mask
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text
  return longest < 1 ? '' : `${text.slice(0, longest - 1)}…`
}

/** The same of a vendor's error: as much of its message and of its details as there is room for. */
function redactVendorError(error: VendorError, mask: Mask): VendorError {
  const { code, message = '', details = {} } = error
  const member = (text?: string) => text && cut(mask(text), maxMemberLength)
  const named = {
    status: error.status,
    code: typeof code === 'string' ? member(code) : code,
    type: member(error.type),
    param: member(error.param),
  }
  // Half of the room is for what the message leaves.
  const room = maxErrorBytes - countJsonBytes(named)
  const text = cutToBytes(mask(message), room / 2)
  const kept: Record<string, unknown> = {}
  let left = room - countJsonBytes({ message: text, details: {} })
  for (const [name, value] of Object.entries(details)) {
    const shown = maskValue(value, mask, maxDepth)
    const frame = countJsonBytes({ [mask(name)]: '' })
    const fitting = typeof shown === 'string' ? cutToBytes(shown, left - frame) : shown
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
  // No character takes less than a byte.
  let shown = cut(text, Math.floor(bytes))
  while (shown !== '' && countJsonBytes(shown) > bytes)
    shown = cut(shown, Math.floor(shown.length / 2))
  return shown
}

function countJsonBytes(value: unknown): number {
  return countUtf8Bytes(JSON.stringify(value))
}
