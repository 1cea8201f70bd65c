import {
  type ChatMessage,
  type ChatRequest,
  type ImagePart,
  listImageParts,
  stringifyArguments,
} from '../core/chat.ts'
import type { RerankCall } from '../core/rerank.ts'
import type { Usage } from '../core/usage.ts'
import { countUtf8Bytes } from '../wire/utf8.ts'

/** English text has about four bytes a token. */
const bytesPerToken = 4
/** The tokens that a chat template adds around each message, and before the reply. */
export const tokensPerMessage = 3
export const tokensPerReply = 3

/** Estimates the tokens of a text from its UTF-8 bytes: a quarter, rounded up. */
export function estimateTextTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken)
}

/** Estimates a chat prompt by its bytes: text, names, tool calls and definitions, and images. */
export function estimatePromptTokens(request: ChatRequest, toolBytes?: number): number {
  const { messages, tools } = request
  const tokens = sumPromptTokens({
    messages: messages.map(measureMessage),
    tools: toolBytes === undefined ? (tools ?? []).map(measureTool) : [toolBytes],
  })
  return listImageParts(request).reduce((sum, image) => sum + estimateImageTokens(image), tokens)
}

/** The UTF-8 bytes of what a model reads: of each message, and of each tool, or of all. */
export interface PromptBytes {
  readonly messages: readonly number[]
  readonly tools: readonly number[]
}

/** Estimates a prompt without images. */
export function sumPromptTokens({ messages, tools }: PromptBytes): number {
  let tokens = tokensPerReply
  for (const bytes of messages) tokens += tokensPerMessage + estimateTextTokens(bytes)
  for (const bytes of tools) tokens += estimateTextTokens(bytes)
  return tokens
}

function measureMessage(message: ChatMessage): number {
  let bytes = countUtf8Bytes(message.role) + countUtf8Bytes(message.name ?? '')
  if (typeof message.content === 'string') bytes += countUtf8Bytes(message.content)
  else for (const part of message.content ?? []) bytes += countUtf8Bytes(part.text ?? '')
  for (const { function: called } of message.tool_calls ?? []) {
    bytes +=
      countUtf8Bytes(called?.name ?? '') + countUtf8Bytes(stringifyArguments(called?.arguments))
  }
  return Math.max(bytes, measureOwnBlocks(message))
}

/** A vendor's own blocks go to it in place of the message. */
function measureOwnBlocks({ provider_content: content }: ChatMessage): number {
  return content === undefined ? 0 : countUtf8Bytes(JSON.stringify(content))
}

function measureTool(tool: object): number {
  return countUtf8Bytes(JSON.stringify(tool))
}

/** Makes the usage of an answer whose upstream reported none. */
export function createEstimatedUsage(prompt: number, outputBytes: number): Usage {
  const completion = estimateTextTokens(outputBytes)
  return {
    promptTokens: prompt,
    completionTokens: completion,
    totalTokens: prompt + completion,
    estimated: true,
    estimatedSide: 'both',
  }
}

/** Estimates the tokens of one image: 85 at `detail: "low"`, 765 otherwise. */
export function estimateImageTokens({ detail }: Pick<ImagePart, 'detail'>): number {
  return detail === 'low' ? 85 : 765
}

/** Estimates a rerank request. The query counts once for each document, as vendors bill it. */
export function estimateRerankTokens({ query, documents }: RerankCall): number {
  const queryTokens = estimateTextTokens(countUtf8Bytes(query))
  return documents.reduce(
    (sum, text) => sum + queryTokens + estimateTextTokens(countUtf8Bytes(text)),
    0,
  )
}
