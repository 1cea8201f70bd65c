import { tryParseJson } from './json/parse.ts'

/** Text that looks like a credential: OpenAI-style keys, bearer tokens, JWTs, Google and AWS keys. */
const credentialShapes =
  /\b(?:sk-[A-Za-z0-9_*-]{4,}|Bearer\s+[A-Za-z0-9._~+/=*-]{8,}|eyJ[\w-]+\.[\w-]+\.[\w-]+|ya29\.[\w.-]+|AIza[\w-]{20,}|AKIA[0-9A-Z]{16})/g

/** Minimum length of a hidden part of a secret. Hiding shorter parts would hide ordinary words. */
const minPartLength = 16
/** Minimum length of a hidden secret. Hiding shorter ones would hide ordinary words. */
const minSecretLength = 4

/** Returns the text with secrets replaced by `***`. */
export type Mask = (text: string) => string

/** Hides the given secret, and everything that looks like a credential, in an upstream's text. */
export function maskSecrets(text: string, secret?: string): string {
  return (secret === undefined ? createMask() : createMask(secret))(text)
}

/**
 * Creates a mask for secrets. It hides each whole secret and every part of at least 16 characters: plain,
 * percent-encoded, JSON-escaped and in base64. If the secret is a JSON document, parts are hidden only
 * of its secret members. Runs in time proportional to the length of the text.
 */
export function createMask(...secrets: readonly string[]): Mask {
  const wholes = secrets.map((secret) => secret.trim()).filter((it) => it.length >= minSecretLength)
  const spellings = wholes.flatMap(extractSecrets).flatMap(listSpellings)
  const parts = new Set(spellings.flatMap(listParts))
  // The longest first: one secret may be the beginning of another.
  const long = wholes.toSorted(byLength)
  const short = [...wholes, ...spellings].filter((it) => it.length < minPartLength).sort(byLength)
  return (text) => {
    const cut = hideParts(replaceEach(text, long), parts)
    return replaceEach(cut, short).replace(credentialShapes, '***')
  }
}

function byLength(a: string, b: string): number {
  return b.length - a.length
}

function replaceEach(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
}

/** Returns the secret itself, or the secret members of a JSON document. */
function extractSecrets(whole: string): string[] {
  if (!whole.startsWith('{')) return [whole]
  const document = Object.entries(Object(tryParseJson(whole)))
  const named = document.flatMap(([name, value]) =>
    /(?:key|secret|token|password)$/i.test(name) && typeof value === 'string' ? value : [],
  )
  const found = named.length > 0 ? named : whole.split(/[\s:,"{}]+/)
  return found.filter((part) => part.length >= minPartLength)
}

function listSpellings(secret: string): string[] {
  // A lone surrogate has no UTF-8, so it is replaced here as on the wire.
  const wellFormed = decoder.decode(encoder.encode(secret))
  const encoded = [0, 1, 2].flatMap((offset) => encodeBase64At(secret, offset))
  return [
    secret,
    encodeURIComponent(wellFormed),
    JSON.stringify(secret).slice(1, -1),
    ...encoded,
    ...encoded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * Returns the base64 of a secret that follows `offset` other bytes, without the characters at both ends
 * that depend on the neighbouring bytes. For offset 0, also the complete base64.
 */
function encodeBase64At(secret: string, offset: number): string[] {
  const bytes = encoder.encode(secret)
  const shifted = new Uint8Array(offset + bytes.length)
  shifted.set(bytes, offset)
  const whole = btoa(Array.from(shifted, (byte) => String.fromCharCode(byte)).join(''))
  const own = whole.slice(offset === 0 ? 0 : offset + 1).replace(/.=+$/, '')
  return offset === 0 ? [whole, own] : [own]
}

/** Lists every substring of the minimum length. A longer part is a sequence of these. */
function listParts(spelling: string): string[] {
  return Array.from({ length: Math.max(0, spelling.length - minPartLength + 1) }, (_, at) =>
    spelling.slice(at, at + minPartLength),
  )
}

function hideParts(text: string, parts: ReadonlySet<string>): string {
  let shown = ''
  let hiddenTo = 0
  for (let at = 0; at + minPartLength <= text.length; at++) {
    if (!parts.has(text.slice(at, at + minPartLength))) continue
    if (at >= hiddenTo) shown += `${text.slice(hiddenTo, at)}***`
    hiddenTo = at + minPartLength
  }
  return shown + text.slice(hiddenTo)
}

/** Returns a URL without path, user name and password, for the log. */
export function maskUrl(address: string): string {
  const { protocol, host, username, password } = new URL(address)
  return `${protocol}//${username === '' && password === '' ? '' : '***@'}${host}`
}
