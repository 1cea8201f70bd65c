import { hash, randomBytes } from 'node:crypto'
import type { Fingerprint } from '../../../src/index.ts'

/** SHA-256, native and so at a fifth of what BLAKE3 costs here, keyed with chance. */
export function nodeFingerprint(): Fingerprint {
  const key = randomBytes(32).toString('base64')
  return (text) => hash('sha256', key + text, 'base64')
}
