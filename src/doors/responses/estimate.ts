import { stringifyArguments } from '../../core/chat.ts'
import { estimateImageTokens, sumPromptTokens } from '../../tokens/index.ts'
import { isObject } from '../../wire/json/parse.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import type { RequestProofs } from '../request-proofs.ts'
import type { Item, ResponsesRequest } from './fields.ts'
import { listImages } from './images.ts'
import { isOwnItem } from './own-items.ts'

/** The bytes of what a model reads of a request, without its images. */
export interface PromptSize {
  readonly instructions: number | undefined
  /** An input that is one text. */
  readonly text: number | undefined
  readonly items: readonly number[]
  readonly tools: readonly number[]
}

export interface EstimateOptions {
  readonly proofs: RequestProofs
  readonly toolBytes?: number | undefined
}

/**
 * Estimates a prompt by its bytes, by the rules for chat completions: texts, tool calls, results and
 * definitions, and images. Each item counts as a message. `toolBytes` replaces the size of tools that are
 * too many to render again.
 */
export function estimatePrompt(
  request: ResponsesRequest,
  { proofs, toolBytes }: EstimateOptions,
): number {
  const { instructions, input, tools } = request
  const size: PromptSize = {
    instructions: typeof instructions === 'string' ? countUtf8Bytes(instructions) : undefined,
    text: typeof input === 'string' ? countUtf8Bytes(input) : undefined,
    items: Array.isArray(input) ? measureItems(input, proofs) : [],
    tools: toolBytes === undefined ? listTools(tools).map(measureJson) : [toolBytes],
  }
  const images = listImages(request).reduce((sum, image) => sum + estimateImageTokens(image), 0)
  return sumSize(size) + images
}

/** Estimates the tokens of a prompt without images. */
export function sumSize({ instructions, text, items, tools }: PromptSize): number {
  const messages = [...items]
  if (instructions !== undefined) messages.push('system'.length + instructions)
  if (text !== undefined) messages.push('user'.length + text)
  return sumPromptTokens({ messages, tools })
}

function listTools(tools: unknown): readonly unknown[] {
  return Array.isArray(tools) ? tools : []
}

function measureItems(items: readonly Item[], proofs: RequestProofs): number[] {
  const sizes: number[] = []
  let answer = 0
  let blocks = 0
  const endAnswer = () => {
    // A vendor's own blocks go to it in place of the items of the answer.
    if (blocks > answer) sizes.push(blocks - answer)
    answer = 0
    blocks = 0
  }
  for (const item of items) {
    const size = measureItem(item)
    sizes.push(size)
    if (isOutput(item)) {
      answer += size
      blocks += measureOwnBlocks(item, proofs)
    } else endAnswer()
  }
  endAnswer()
  return sizes
}

/** True for an item that a model has written. The items of one answer are neighbours. */
function isOutput({ role, type }: Item): boolean {
  return role === 'assistant' || type === 'reasoning' || String(type).endsWith('_call')
}

function measureOwnBlocks(item: Item, proofs: RequestProofs): number {
  const proof = isOwnItem(item) ? proofs.read(String(item['encrypted_content'])) : undefined
  return proof?.content ? countUtf8Bytes(stringifyJson(proof.content)) : 0
}

/** Measures what a model reads of an item. Ids, encrypted reasoning and inline files are not text. */
function measureItem(item: Item): number {
  const { role, content, summary, name, arguments: given, input, output, tools } = item
  return (
    measureText(role) +
    measureContent(content) +
    measureSummary(summary) +
    measureText(name) +
    measureArguments(given) +
    measureText(input) +
    measureContent(output) +
    (Array.isArray(tools) ? measureJson(tools) : 0)
  )
}

/** Upstreams that take reasoning back as text are charged for it. */
function measureSummary(summary: unknown): number {
  let bytes = 0
  if (!Array.isArray(summary)) return bytes
  for (const part of summary) if (isObject(part)) bytes += measureText(part['text'])
  return bytes
}

function measureContent(content: unknown): number {
  if (!Array.isArray(content)) return measureText(content)
  let bytes = 0
  for (const part of content) {
    if (isObject(part)) bytes += measureText(part['text']) + measureText(part['refusal'])
  }
  return bytes
}

function measureArguments(given: unknown): number {
  return isObject(given) ? countUtf8Bytes(stringifyArguments(given)) : measureText(given)
}

function measureText(value: unknown): number {
  return typeof value === 'string' ? countUtf8Bytes(value) : 0
}

function measureJson(value: unknown): number {
  return countUtf8Bytes(JSON.stringify(value))
}
