import { anthropic } from './anthropic.ts'
import { cohere } from './cohere.ts'
import { bedrock, kimi, mistral, nova } from './converse.ts'
import { gemini2, gemini3 } from './gemini.ts'
import type { Vendor } from './vendor.ts'

/** The simulated vendors of the round trips. */
export const vendors: readonly Vendor[] = [
  anthropic,
  bedrock,
  nova,
  kimi,
  mistral,
  gemini2,
  gemini3,
  cohere,
]
