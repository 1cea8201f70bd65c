import { deepseek } from './deepseek.ts'
import { groq } from './groq.ts'
import { llamacpp } from './llamacpp.ts'
import { minimax } from './minimax.ts'
import { mistral } from './mistral.ts'
import { moonshot } from './moonshot.ts'
import { ollama } from './ollama.ts'
import { openrouter } from './openrouter.ts'
import { qwen } from './qwen.ts'
import type { CompatibleUpstream } from './upstream.ts'
import { zai } from './zai.ts'

/** The vendors and servers of the OpenAI format, each with rules of its own. */
export const compatibleUpstreams: readonly CompatibleUpstream[] = [
  deepseek,
  moonshot,
  zai,
  minimax,
  qwen,
  mistral,
  openrouter,
  groq,
  ollama,
  llamacpp,
]
