import type { ChatContractCase } from '../contract-case.ts'
import { anthropic } from './anthropic.ts'
import { bedrock } from './bedrock.ts'
import { cohere } from './cohere.ts'
import { demo } from './demo.ts'
import { google } from './google.ts'
import { openai } from './openai.ts'
import { vertexAi } from './vertex_ai.ts'

/** The cases of the chat contract, one for each kind that it tests. */
export const contractCases: readonly ChatContractCase[] = [
  openai,
  demo,
  anthropic,
  google,
  vertexAi,
  bedrock,
  cohere,
]
