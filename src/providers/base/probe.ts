import type { Probe } from '../../core/provider-kind.ts'

/** Probes a health path at the server's root, beside `/v1`; it must answer 2xx. */
export function probeHealth(path: string): (baseUrl: string) => Probe {
  return (baseUrl) => ({ url: buildProbeUrl(baseUrl, path, /\/v1$/), expects: 'success' })
}

/** Probes a path of the API; any HTTP answer counts as healthy. */
export function probeAnswer(path: string): (baseUrl: string) => Probe {
  return (baseUrl) => ({ url: buildProbeUrl(baseUrl, path, /$/), expects: 'answer' })
}

/** Probes only the root on the vendor's hosted API, and uses the given probe elsewhere. */
export function probeRootOn(host: string, probe: (baseUrl: string) => Probe): typeof probe {
  return (baseUrl) =>
    new URL(baseUrl).hostname.endsWith(host) ? probeRoot(baseUrl) : probe(baseUrl)
}

/** Probes the root of the origin; any HTTP answer counts as healthy. */
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
