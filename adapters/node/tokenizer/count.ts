import { Tiktoken } from 'js-tiktoken/lite'
import type { TokenEncoding } from '../../../src/index.ts'
import { splitText } from './pieces.ts'

export interface CountJob {
  readonly encoding: TokenEncoding
  readonly texts: readonly string[]
  /** Maximum time of the count in milliseconds, without the time to load the encoder. */
  readonly timeLimit: number
}

/** Returns the number of tokens of each text, or undefined when the time limit passes. */
export async function countTokens({
  encoding,
  texts,
  timeLimit,
}: CountJob): Promise<number[] | undefined> {
  const encoder = await getEncoder(encoding)
  const deadline = performance.now() + timeLimit
  const counts: number[] = []
  for (const text of texts) {
    let tokens = 0
    for (const piece of splitText(text)) {
      if (performance.now() > deadline) return undefined
      // No text of a user is a special token; without the empty lists `<|endoftext|>` throws.
      tokens += encoder.encode(piece, [], []).length
    }
    counts.push(tokens)
  }
  return counts
}

const encoders = new Map<TokenEncoding, Promise<Tiktoken>>()

/** Creates each encoder once, on first use: it takes half a second and much memory. */
function getEncoder(encoding: TokenEncoding): Promise<Tiktoken> {
  const encoder = encoders.get(encoding) ?? loadEncoder(encoding)
  encoders.set(encoding, encoder)
  return encoder
}

async function loadEncoder(encoding: TokenEncoding): Promise<Tiktoken> {
  const { default: ranks } = await rankLoaders[encoding]()
  return new Tiktoken(ranks)
}

const rankLoaders = {
  o200k_base: () => import('js-tiktoken/ranks/o200k_base'),
  cl100k_base: () => import('js-tiktoken/ranks/cl100k_base'),
} as const
