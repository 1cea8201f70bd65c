import { bytesToHex } from '@noble/hashes/utils.js'

/** Returns the value of `x-gateway-signature`: the HMAC-SHA256 of the exact bytes of the body. */
export async function signBody(body: Uint8Array<ArrayBuffer>, secret: string): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = new TextEncoder().encode(secret)
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign'])
  const mac = await crypto.subtle.sign('HMAC', key, body)
  return `sha256=${bytesToHex(new Uint8Array(mac))}`
}
