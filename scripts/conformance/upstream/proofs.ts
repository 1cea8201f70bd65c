import { createHash, randomBytes } from 'node:crypto'

/**
 * Proofs of reasoning, as Claude and Gemini issue them: opaque for clients, verified when they come
 * back, without any state between the requests.
 */

/** Signs a text. The same text must come back with it. */
export function signText(text: string): string {
  const nonce = randomBytes(9).toString('base64')
  return `${nonce}${digest(`${nonce}${text}`)}`
}

export function verifyText(text: string, signature: string): boolean {
  const nonce = signature.slice(0, 12)
  return signature === `${nonce}${digest(`${nonce}${text}`)}`
}

function digest(text: string): string {
  return createHash('sha256').update(`upstream ${text}`).digest('base64')
}
