import { type ChatRequest, listImageParts, stringifyArguments } from '../core/chat.ts'
import type { TokenEncoding, Tokenizer } from '../core/ports.ts'
import type { Usage } from '../core/usage.ts'
import { estimateImageTokens, tokensPerMessage, tokensPerReply } from './heuristic.ts'
import { listToolTexts } from './tools.ts'

const tokensPerName = 1

/** The texts of one request and its answer, for an exact count. */
export interface TokenCountInput {
  readonly encoding: TokenEncoding
  readonly prompt: readonly string[]
  readonly output: string
  /** Prompt tokens that are not text: those around messages, names and tools, and those of images. */
  readonly overhead: number
}

export interface AnsweredChat {
  readonly encoding: TokenEncoding
  readonly request: ChatRequest
  /** The generated text. */
  readonly output: string
}

/** Collects the texts of a chat request, without counting them. */
export function toChatCountInput({ encoding, request, output }: AnsweredChat): TokenCountInput {
  const prompt: string[] = []
  let overhead = tokensPerReply
  for (const { role, content, name, tool_calls: calls } of request.messages) {
    overhead += tokensPerMessage
    prompt.push(role)
    if (name !== undefined && name !== null) {
      overhead += tokensPerName
      prompt.push(name)
    }
    if (typeof content === 'string') prompt.push(content)
    else for (const { text } of content ?? []) prompt.push(text ?? '')
    for (const { function: called } of calls ?? []) {
      prompt.push(called?.name ?? '', stringifyArguments(called?.arguments))
    }
  }
  for (const image of listImageParts(request)) overhead += estimateImageTokens(image)
  const tools = listToolTexts(request, encoding)
  return {
    encoding,
    prompt: prompt.concat(tools.texts),
    output,
    overhead: overhead + tools.overhead,
  }
}

/** Counts exactly. Resolves to undefined when the tokenizer does not count. */
export async function countExactly(
  tokenizer: Tokenizer,
  { encoding, prompt, output, overhead }: TokenCountInput,
): Promise<Usage | undefined> {
  const counts = await tokenizer.count(encoding, [...prompt, output])
  if (!counts) return undefined
  const completionTokens = counts.at(-1) ?? 0
  const promptTokens = counts.slice(0, -1).reduce((sum, tokens) => sum + tokens, overhead)
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    // The count is exact, but the gateway's and not the upstream's.
    estimated: true,
  }
}
