import { Tiktoken } from 'js-tiktoken/lite'
import type { TokenEncoding } from '../../../src/index.ts'
import { splitText } from './pieces.ts'

export interface CountJob {
  readonly encoding: TokenEncoding
  readonly texts: readonly string[]
  /** Milliseconds that the count may take, the loading of its encoder not included. */
  readonly timeLimit: number
}

/** The tokens of each text; undefined when the time is up first. */
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
      // Nothing that a user writes is special; without the empty lists `<|endoftext|>` throws.
      tokens += encoder.encode(piece, [], []).length
    }
    counts.push(tokens)
  }
  return counts
}

const encoders = new Map<TokenEncoding, Promise<Tiktoken>>()

/** An encoder takes half a second and much memory to make, so it is made once, when it is needed. */
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
