import { readFileSync } from 'node:fs'
import * as tls from 'node:tls'

/** What the host trusts, and these certificate authorities (PEM) beside it. Throws on bad PEM. */
export function createTrustContext(authorities: string): tls.SecureContext {
  return tls.createSecureContext({ ca: [...listHostAuthorities(), authorities] })
}

/** What calls trust that name no authority: to name one replaces it all. */
function listHostAuthorities(): readonly string[] {
  // Node.js 22.15 and later say it themselves.
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
    // Node.js itself has warned about it at the start.
    return []
  }
}
