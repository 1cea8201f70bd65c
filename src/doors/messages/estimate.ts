import {
  estimateImageTokens,
  estimateTextTokens,
  tokensPerMessage,
  tokensPerReply,
} from '../../tokens/index.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import type { RequestProofs } from '../request-proofs.ts'
import type { CountRequest } from './schema.ts'
import { readProofText } from './thinking.ts'

export interface EstimateOptions {
  readonly proofs: RequestProofs
  readonly toolBytes?: number | undefined
}

/**
 * Estimates a prompt by its bytes, by the rules for chat completions: texts, tool calls, results and
 * definitions, and images. `toolBytes` replaces the size of tools that are too many to render again.
 */
export function estimatePrompt(
  request: CountRequest,
  { proofs, toolBytes }: EstimateOptions,
): number {
  const { system, messages, tools } = request
  const tally = { bytes: 0, blockBytes: 0, images: 0, proofs }
  let tokens = tokensPerReply
  if (system !== undefined && system !== null) {
    addContent(system, tally)
    tokens += tokensPerMessage + estimateTextTokens(tally.bytes)
  }
  for (const { role, content } of messages) {
    tally.bytes = countUtf8Bytes(role)
    tally.blockBytes = 0
    addContent(content, tally)
    // A vendor's own blocks go to it in place of the message.
    tokens += tokensPerMessage + estimateTextTokens(Math.max(tally.bytes, tally.blockBytes))
  }
  if (toolBytes !== undefined) tokens += estimateTextTokens(toolBytes)
  else for (const tool of tools ?? []) tokens += estimateTextTokens(measureJson(tool))
  return tokens + tally.images * estimateImageTokens({ detail: undefined })
}

interface Tally {
  bytes: number
  /** The size of the vendor's own blocks that thinking carries. */
  blockBytes: number
  images: number
  readonly proofs: RequestProofs
}

function addContent(content: unknown, tally: Tally): void {
  if (typeof content === 'string') tally.bytes += countUtf8Bytes(content)
  else if (Array.isArray(content)) for (const block of content) addBlock(block, tally)
}

/** Adds what a model reads of a block. Ids, signatures and inline files are not text. */
function addBlock(block: unknown, tally: Tally): void {
  if (!isObject(block)) return
  switch (block['type']) {
    case 'image':
      tally.images++
      return
    case 'tool_use':
      tally.bytes += measureText(block['name']) + measureJson(block['input'])
      return
    case 'thinking':
    case 'redacted_thinking':
      tally.bytes += measureText(block['thinking'])
      tally.blockBytes += measureOwnBlocks(block, tally.proofs)
      return
    case 'document':
      tally.bytes += measureText(block['title']) + measureText(block['context'])
      return addSource(block['source'], tally)
    case 'tool_addition':
      tally.bytes += measureDefinition(block['tool'])
      return
    case 'compaction':
      addContent(block['tool_changes'], tally)
      return addContent(block['content'], tally)
    default:
      tally.bytes += measureText(block['text']) + measureText(block['title'])
      addContent(block['content'], tally)
  }
}

function addSource(source: unknown, tally: Tally): void {
  if (!isObject(source)) return
  if (source['type'] === 'text') tally.bytes += measureText(source['data'])
  addContent(source['content'], tally)
}

function measureOwnBlocks(block: JsonObject, proofs: RequestProofs): number {
  const text = readProofText(block)
  const content = text === undefined ? undefined : proofs.read(text)?.content
  return content ? countUtf8Bytes(stringifyJson(content)) : 0
}

/** A reference to a tool is no text that a model reads. */
function measureDefinition(tool: unknown): number {
  return isObject(tool) && 'definition' in tool ? measureJson(tool['definition']) : 0
}

function measureText(value: unknown): number {
  return typeof value === 'string' ? countUtf8Bytes(value) : 0
}

function measureJson(value: unknown): number {
  return countUtf8Bytes(JSON.stringify(value ?? {}))
}
