import { tryParseJson } from './json.ts'

/** What looks like a credential: OpenAI-style keys, bearer tokens, JWTs, Google and AWS keys. */
const credentialShapes =
  /\b(?:sk-[A-Za-z0-9_*-]{4,}|Bearer\s+[A-Za-z0-9._~+/=*-]{8,}|eyJ[\w-]+\.[\w-]+\.[\w-]+|ya29\.[\w.-]+|AIza[\w-]{20,}|AKIA[0-9A-Z]{16})/g

/** A part of a secret that is shorter says nothing, and would hide ordinary words. */
const minPartLength = 16
/** A whole secret that is shorter would hide ordinary words too. */
const minSecretLength = 4

/** Hides secrets in a text. */
export type Mask = (text: string) => string

/** Hides the given secret, and whatever looks like a credential, in an upstream's text. */
export function maskSecrets(text: string, secret?: string): string {
  return createMask(secret)(text)
}

/**
 * Makes what hides a secret: the whole of it, and every part of it of 16 characters or more, as it
 * is, percent-encoded, escaped as in JSON, and in base64. Of a JSON document only the members that
 * are secret are hidden in parts. The work is proportional to the text's length.
 */
export function createMask(secret = ''): Mask {
  const whole = secret.trim()
  if (whole.length < minSecretLength) return (text) => text.replace(credentialShapes, '***')
  const spellings = extractSecrets(whole).flatMap(listSpellings)
  const parts = new Set(spellings.flatMap(listParts))
  const short = [whole, ...spellings].filter((spelling) => spelling.length < minPartLength)
  return (text) => {
    const cut = hideParts(text.replaceAll(whole, '***'), parts)
    const masked = short.reduce((shown, spelling) => shown.replaceAll(spelling, '***'), cut)
    return masked.replace(credentialShapes, '***')
  }
}

/** The secret itself, or the secrets that a JSON document holds. */
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
  // Half of a surrogate pair, which has no encoding, is replaced here as it is on the wire.
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
 * The base64 of a secret that stands after `offset` other bytes, without the letters at either end
 * that depend on its neighbours; at offset 0 also with its end, as it is when nothing follows.
 */
function encodeBase64At(secret: string, offset: number): string[] {
  const bytes = encoder.encode(secret)
  const shifted = new Uint8Array(offset + bytes.length)
  shifted.set(bytes, offset)
  const whole = btoa(Array.from(shifted, (byte) => String.fromCharCode(byte)).join(''))
  const own = whole.slice(offset === 0 ? 0 : offset + 1).replace(/.=+$/, '')
  return offset === 0 ? [whole, own] : [own]
}

/** Every run of the shortest length: a longer part is a run of these. */
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

/** An address without its user name and password, for the log. */
export function maskUrl(address: string): string {
  const { protocol, host, username, password } = new URL(address)
  return `${protocol}//${username === '' && password === '' ? '' : '***@'}${host}`
}
