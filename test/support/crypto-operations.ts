/** Counts the Web Crypto operations in progress. */
export const cryptoOperations = { pending: 0 }

type Operation = (this: SubtleCrypto, ...args: unknown[]) => Promise<unknown>

/** Every operation that the thread pool runs. */
const names = [
  'decrypt',
  'deriveBits',
  'deriveKey',
  'digest',
  'encrypt',
  'exportKey',
  'generateKey',
  'importKey',
  'sign',
  'unwrapKey',
  'verify',
  'wrapKey',
] as const

const subtle = SubtleCrypto.prototype as unknown as Record<(typeof names)[number], Operation>

for (const name of names) {
  const operation = subtle[name]
  subtle[name] = async function (...args) {
    cryptoOperations.pending++
    try {
      return await operation.apply(this, args)
    } finally {
      cryptoOperations.pending--
    }
  }
}
