import * as z from 'zod'

/** The URL of a server. It may not contain a credential, because URLs are logged. */
export const webAddress = z
  .string()
  .refine(isWebAddress, { error: 'must be an http or https URL', abort: true })
  .refine((value) => !hasCredentials(value), { error: 'must not contain a user name or password' })

/** A proxy for outgoing calls. Unlike other URLs it may contain a user name and a password. */
export const proxyAddress = z.string().refine((value) => value === '' || isProxyAddress(value), {
  error: 'must be an http or https URL without a path, or "" for no proxy',
})

/** The address of a Redis or Valkey server. Unlike other URLs it may contain a user name and a password. */
export const serverAddress = z.string().refine(isServerAddress, {
  error: 'must be a redis or rediss URL: redis://host:6379',
})

/** The address of a provider: a URL, or a region for the kinds that derive their URL from it. */
export const baseUrl = z
  .string()
  .refine((value) => isWebAddress(value) || isRegion(value), {
    error: 'must be an http or https URL',
    abort: true,
  })
  .refine((value) => !hasCredentials(value), {
    error: 'must not contain a user name or password: name the variable of the key in api_key_env',
  })

/** A path with or without a query: `/healthz`. */
export const originPath = z.string().regex(/^\/(?![/\\])[\x21-\x22\x24-\x7e]*$/, {
  error: 'must be a path that begins with one "/", of visible ASCII characters without "#"',
})

/** A host name. A leading dot matches every subdomain. */
export const hostName = z
  .string()
  .regex(/^(?:\.?[\w-]+(?:\.[\w-]+)*|\[[\da-fA-F:.]+\])$/, {
    error: 'must be a host name without scheme, port or path; a leading dot matches subdomains',
  })
  .overwrite((host) => host.toLowerCase())

/**
 * The beginning of a URL. Normalizing it adds a slash after the host, so that `https://example.com`
 * does not match `https://example.com.attacker.net`.
 */
export const urlPrefix = webAddress.overwrite((prefix) => new URL(prefix).href)

/** The origin of a page as browsers send it in `Origin`, or `*` for every origin. */
export const pageOrigin = z.string().refine(isPageOrigin, {
  error: 'must be "*" or an origin as browsers write it, without a path: https://app.example.com',
})

/** True for a bare region such as `us-east-1`. Only some kinds accept one. */
export function isRegion(value: string): boolean {
  return /^[a-z]{2,}(?:-[a-z\d]+)*$/.test(value)
}

function isWebAddress(value: string): boolean {
  // `URL` accepts blanks, control characters and missing slashes, which a proxy may refuse.
  return /^https?:\/\/[^\s\p{Cc}]+$/iu.test(value) && URL.canParse(value)
}

/** True for `redis://[user:password@]host[:port][/database]`, and the same with `rediss:`. */
export function isServerAddress(value: string): boolean {
  if (!/^rediss?:\/\/[^\s\p{Cc}]+$/iu.test(value) || !URL.canParse(value)) return false
  const { hostname, pathname, search, hash } = new URL(value)
  return hostname !== '' && /^\/?\d*$/.test(pathname) && search === '' && hash === ''
}

function isPageOrigin(value: string): boolean {
  if (value === '*') return true
  // Browser extensions and desktop apps have other schemes.
  if (!/^[a-z][a-z\d+.-]*:\/\/[\w.:[\]-]+$/.test(value)) return false
  return !/^https?:/.test(value) || (URL.canParse(value) && new URL(value).origin === value)
}

function isProxyAddress(value: string): boolean {
  if (!isWebAddress(value)) return false
  const { pathname, search, hash } = new URL(value)
  return pathname === '/' && search === '' && hash === ''
}

function hasCredentials(value: string): boolean {
  if (isRegion(value)) return false
  const { username, password } = new URL(value)
  return username !== '' || password !== ''
}
