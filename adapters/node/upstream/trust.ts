import { readFileSync } from 'node:fs'
import * as tls from 'node:tls'

/** Creates a context that trusts the host's authorities and the given ones (PEM). Throws on bad PEM. */
export function createTrustContext(authorities: string): tls.SecureContext {
  return tls.createSecureContext({ ca: [...listHostAuthorities(), authorities] })
}

/** Lists the authorities that the host trusts by default; setting `ca` would replace them all. */
function listHostAuthorities(): readonly string[] {
  // Available since Node.js 22.15.
  const ask: unknown = Reflect.get(tls, 'getCACertificates')
  return typeof ask === 'function'
    ? ask('default')
    : [...tls.rootCertificates, ...readExtraAuthorities()]
}

function readExtraAuthorities(): readonly string[] {
  const { NODE_EXTRA_CA_CERTS: path } = process.env
  if (!path) return []
  try {
    return [readFileSync(path, 'utf8')]
  } catch {
    // Node.js warns about this file at its start.
    return []
  }
}
