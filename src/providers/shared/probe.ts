import type { Probe } from '../../core/provider.ts'

/** A path of the server's own that answers 2xx when it is alive, beside the version path. */
export function probeHealth(path: string): (baseUrl: string) => Probe {
  return (baseUrl) => ({ url: buildProbeUrl(baseUrl, path, /\/v1$/), expects: 'success' })
}

/** A path of the API; any answer shows that somebody is there. */
export function probeAnswer(path: string): (baseUrl: string) => Probe {
  return (baseUrl) => ({ url: buildProbeUrl(baseUrl, path, /$/), expects: 'answer' })
}

/** The vendor's hosted API, where only the root may be asked; elsewhere the given probe. */
export function probeRootOn(host: string, probe: (baseUrl: string) => Probe): typeof probe {
  return (baseUrl) =>
    new URL(baseUrl).hostname.endsWith(host) ? probeRoot(baseUrl) : probe(baseUrl)
}

/** Bare reachability: any answer of the origin. */
export function probeRoot(baseUrl: string): Probe {
  return { url: new URL('/', baseUrl).href, expects: 'answer' }
}

function buildProbeUrl(baseUrl: string, path: string, drop: RegExp): string {
  const url = new URL(baseUrl)
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(drop, '')}${path}`
  url.search = ''
  url.hash = ''
  return url.href
}
