const credentialShapes = /\b(?:sk-[A-Za-z0-9_*-]{4,}|Bearer\s+[A-Za-z0-9._~+/=*-]{8,})/g

/** Hides the given secret, and whatever looks like a credential, in an upstream's text. */
export function maskSecrets(text: string, secret: string | undefined): string {
  const known = secret !== undefined && secret.length >= 4 ? text.replaceAll(secret, '***') : text
  return known.replace(credentialShapes, '***')
}
