import * as z from 'zod'

/** An address that requests go to. Credentials have their own setting, and URLs get logged. */
export const webAddress = z
  .string()
  .refine(isWebAddress, { error: 'must be an http or https URL', abort: true })
  .refine((value) => !hasCredentials(value), { error: 'must not hold a user name or password' })

/** A proxy for outgoing calls. Unlike other addresses it may hold a user name and a password. */
export const proxyAddress = z.string().refine((value) => value === '' || isProxyAddress(value), {
  error: 'must be an http or https URL without a path, or "" for no proxy',
})

/** The address of a provider: a URL, or a region for the kinds that derive their address from it. */
export const baseUrl = z
  .string()
  .refine((value) => isWebAddress(value) || isRegion(value), {
    error: 'must be an http or https URL',
    abort: true,
  })
  .refine((value) => !hasCredentials(value), {
    error: 'must not hold a user name or password: name the key in api_key_env',
  })

/** A path at the origin of an address: `/healthz`, with a query or without. */
export const originPath = z.string().regex(/^\/(?![/\\])[\x21-\x22\x24-\x7e]*$/, {
  error: 'must be a path that begins with one "/", of visible ASCII characters without "#"',
})

/** A host name. A leading dot stands for every subdomain. */
export const hostName = z
  .string()
  .regex(/^(?:\.?[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])$/i, {
    error: 'must be a host name without scheme, port or path; a leading dot matches subdomains',
  })
  .overwrite((host) => host.toLowerCase())

/**
 * The beginning of an address. It is kept as browsers write it, which ends the host with a slash:
 * `https://example.com` must not let `https://example.com.attacker.net` in.
 */
export const urlPrefix = webAddress.overwrite((prefix) => new URL(prefix).href)

/** A page's origin as browsers write it in `Origin`; `*` for every one. */
export const pageOrigin = z.string().refine(isPageOrigin, {
  error: 'must be "*" or an origin as browsers write it, without a path: https://app.example.com',
})

/** True for a bare region such as `us-east-1`. Which kinds take one is for the caller to know. */
export function isRegion(value: string): boolean {
  return /^[a-z]{2,}(?:-[a-z\d]+)*$/.test(value)
}

function isWebAddress(value: string): boolean {
  // The platform's parser forgives blanks, control characters and missing slashes; a proxy may not.
  return /^https?:\/\/[^\s\p{Cc}]+$/iu.test(value) && URL.canParse(value)
}

function isPageOrigin(value: string): boolean {
  if (value === '*') return true
  // Browser extensions and desktop apps have schemes of their own.
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
