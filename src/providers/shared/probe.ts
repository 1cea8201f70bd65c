import type { Probe } from '../../core/provider.ts'

/** A path of the server's own that answers 2xx when it is alive, beside the version path. */
export function liveAt(path: string): (baseUrl: string) => Probe {
  return (baseUrl) => ({ url: addressOf(baseUrl, path, /\/v1$/), expects: 'success' })
}

/** A path of the API; any answer shows that somebody is there. */
export function answersAt(path: string): (baseUrl: string) => Probe {
  return (baseUrl) => ({ url: addressOf(baseUrl, path, /$/), expects: 'answer' })
}

/** The vendor's hosted API, where only the root may be asked; elsewhere the given probe. */
export function unlessOn(host: string, probe: (baseUrl: string) => Probe): typeof probe {
  return (baseUrl) =>
    new URL(baseUrl).hostname.endsWith(host) ? rootAnswers(baseUrl) : probe(baseUrl)
}

/** Bare reachability: any answer of the origin. */
export function rootAnswers(baseUrl: string): Probe {
  return { url: new URL('/', baseUrl).href, expects: 'answer' }
}

function addressOf(baseUrl: string, path: string, drop: RegExp): string {
  const url = new URL(baseUrl)
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(drop, '')}${path}`
  url.search = ''
  url.hash = ''
  return url.href
}
