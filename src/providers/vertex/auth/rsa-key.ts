import { importPKCS8 } from 'jose'

/**
 * Imports an RSA key for RS256 from PEM text. Google issues PKCS#8; some tools convert a key to the
 * older PKCS#1, which is accepted too. Rejects for any other text.
 */
export async function importRsaKey(pem: string): Promise<CryptoKey> {
  const [, body] =
    /-----BEGIN RSA PRIVATE KEY-----([A-Za-z\d+/=\s]+)-----END RSA PRIVATE KEY-----/.exec(pem) ?? []
  return importPKCS8(body === undefined ? pem : wrapPkcs1(body), 'RS256')
}

/** Wraps a PKCS#1 key in PKCS#8, which puts the algorithm's identifier before it (RFC 5208). */
function wrapPkcs1(body: string): string {
  const key = Uint8Array.from(atob(body.replace(/\s/g, '')), (byte) => byte.charCodeAt(0))
  const der = sequence(version, rsaEncryption, element(octetString, key))
  const text = btoa(Array.from(der, (byte) => String.fromCharCode(byte)).join(''))
  return `-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----`
}

const octetString = 0x04
/** INTEGER 0 */
const version = Uint8Array.of(0x02, 0x01, 0x00)
/** SEQUENCE of OBJECT IDENTIFIER 1.2.840.113549.1.1.1 and NULL */
const rsaEncryption = Uint8Array.from([
  0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
])

function sequence(...elements: readonly Uint8Array[]): Uint8Array {
  return element(0x30, Uint8Array.from(elements.flatMap((bytes) => [...bytes])))
}

/** Encodes a DER element: tag, length, value. */
function element(tag: number, value: Uint8Array): Uint8Array {
  const length: number[] = []
  for (let rest = value.length; rest > 0; rest >>= 8) length.unshift(rest & 0xff)
  const prefix = value.length < 0x80 ? [value.length] : [0x80 | length.length, ...length]
  return Uint8Array.from([tag, ...prefix, ...value])
}
