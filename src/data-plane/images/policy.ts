import type { ImageFetchPolicy } from '../../snapshot/index.ts'

/**
 * Finds why a URL must not be fetched, without resolving its host; undefined when the policy allows it.
 * Where both lists are set, both must allow it.
 */
export function findPolicyViolation(
  url: URL,
  { schemes, hosts, prefixes }: ImageFetchPolicy,
): string | undefined {
  if (!schemes.includes(url.protocol.slice(0, -1))) return 'scheme'
  if (url.username !== '' || url.password !== '') return 'credentials'
  if (hosts.length > 0 && !hosts.some((host) => matches(getHost(url), host))) return 'host'
  if (prefixes.length > 0 && !prefixes.some((prefix) => url.href.startsWith(prefix))) {
    return 'prefix'
  }
  return undefined
}

/** Finds why the address of an image must not be fetched; undefined when the policy allows it. */
export function findAddressRefusal(address: string, policy: ImageFetchPolicy): string | undefined {
  return URL.canParse(address) ? findPolicyViolation(new URL(address), policy) : 'address'
}

/** Returns the host as a name, or as an address without brackets. A trailing dot is removed. */
export function getHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

function matches(host: string, listed: string): boolean {
  const name = listed.replace(/^\[|\]$/g, '')
  return name.startsWith('.') ? host.endsWith(name) : host === name
}

const imageTypes = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])

/** Returns the media type of an answer if vendors embed images of that type. */
export function parseImageType(contentType: string | undefined): string | undefined {
  const [type = ''] = (contentType ?? '').toLowerCase().split(';')
  const plain = type.trim() === 'image/jpg' ? 'image/jpeg' : type.trim()
  return imageTypes.has(plain) ? plain : undefined
}
