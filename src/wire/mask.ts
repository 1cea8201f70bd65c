/** What looks like a credential: OpenAI-style keys, bearer tokens, JWTs, Google and AWS keys. */
const credentialShapes =
  /\b(?:sk-[A-Za-z0-9_*-]{4,}|Bearer\s+[A-Za-z0-9._~+/=*-]{8,}|eyJ[\w-]+\.[\w-]+\.[\w-]+|ya29\.[\w.-]+|AIza[\w-]{20,}|AKIA[0-9A-Z]{16})/g

/** A part of a secret that is shorter says nothing, and would hide ordinary words. */
const shortestPart = 16

/**
 * Hides the given secret, and whatever looks like a credential, in an upstream's text. Of a secret
 * made of several, such as a key pair or a JSON document, each long part is hidden by itself.
 */
export function maskSecrets(text: string, secret = ''): string {
  const whole = secret.trim()
  const parts = whole.split(/[\s:,"{}]+/).filter((part) => part.length >= shortestPart)
  const known = whole.length >= 4 ? [whole, ...parts] : parts
  const masked = known.reduce((shown, part) => shown.replaceAll(part, '***'), text)
  return masked.replace(credentialShapes, '***')
}

/** An address without its user name and password, for the log. */
export function maskedUrl(address: string): string {
  const { protocol, host, username, password } = new URL(address)
  return `${protocol}//${username === '' && password === '' ? '' : '***@'}${host}`
}
