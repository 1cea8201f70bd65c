import { bytesToHex } from '@noble/hashes/utils.js'

/** The value of `x-gateway-signature`: HMAC-SHA256 of the body as it is sent. */
export async function signBody(body: Uint8Array<ArrayBuffer>, secret: string): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = new TextEncoder().encode(secret)
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign'])
  const mac = await crypto.subtle.sign('HMAC', key, body)
  return `sha256=${bytesToHex(new Uint8Array(mac))}`
}
