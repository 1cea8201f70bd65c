import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import {
  type ContentRules,
  createProviderContent,
  type ProviderContent,
  readBlockTexts,
  selectBlocks,
} from '../canonical/provider-content.ts'

/** How the blocks of an assistant message are read when a client returns them. */
export const contentRules: ContentRules = {
  family: 'bedrock',
  findFault,
  readText: readBlockText,
  readCall({ toolUse }) {
    if (!isObject(toolUse) || isServerCall(toolUse)) return undefined
    return { name: toolUse['name'], input: toolUse['input'] }
  },
}

/** Blocks that only a user sends. */
const inputTypes = ['image', 'document', 'video', 'audio', 'guardContent', 'searchResult']

/** The service checks the rest of a block, as it checks any other input of a client. */
function findFault(block: JsonObject): string | undefined {
  const input = inputTypes.find((type) => type in block) ?? findPlainResult(block)
  if (input !== undefined) return `must be a block of an answer, not ${input}`
  const { text, toolUse } = block
  if ('text' in block && typeof text !== 'string') return 'must have a text'
  if (!('toolUse' in block)) return undefined
  const isCall = isObject(toolUse) && typeof toolUse['name'] === 'string'
  return isCall && isObject(toolUse['input']) ? undefined : 'must have a name and an input'
}

/** The results of tools that the service ran have a type. */
function findPlainResult({ toolResult }: JsonObject): string | undefined {
  const isOwn = isObject(toolResult) && typeof toolResult['type'] === 'string'
  return toolResult === undefined || isOwn ? undefined : 'toolResult'
}

/** Returns the text of a block. That of a cited block is a list. */
export function readBlockText({ text, citationsContent: cited }: JsonObject): string {
  const own = typeof text === 'string' ? text : ''
  if (!isObject(cited) || !Array.isArray(cited['content'])) return own
  const parts = cited['content'].map((part: unknown) => (isObject(part) ? readBlockText(part) : ''))
  return `${own}${parts.join('')}`
}

/** True for a call that the service runs itself. */
export function isServerCall({ type }: JsonObject): boolean {
  return type === 'server_tool_use'
}

/**
 * Returns the blocks of an answer for its message, unless a message of the OpenAI API brings them back
 * unchanged. Reasoning without its proof is left out: models do not accept it back. `readJson` returns a block
 * as JSON text, with its numbers as the service wrote them.
 */
export function carryContent(
  blocks: readonly JsonObject[],
  readJson: (index: number) => string,
): ProviderContent | undefined {
  if (isPlain(blocks)) return undefined
  const placed = selectBlocks(blocks, (block) => !isUnprovenReasoning(block))
  const returned = placed.map(({ block }) => block)
  const isAccepted = returned.every((block) => findFault(block) === undefined)
  if (!isAccepted || isPlain(returned)) return undefined
  const lead = returned.findIndex(({ reasoningContent }) => !isObject(reasoningContent))
  return createProviderContent('bedrock', readBlockTexts(placed, readJson), {
    // `thinking_blocks` bring back the reasoning with nothing else before it.
    isProvenOtherwise: isPlain(lead < 0 ? [] : returned.slice(lead)),
  })
}

function isUnprovenReasoning({ reasoningContent: reasoning }: JsonObject): boolean {
  if (!isObject(reasoning)) return false
  const { reasoningText: text, redactedContent: data } = reasoning
  const proof = isObject(text) ? text['signature'] : data
  return typeof proof !== 'string' || proof === ''
}

/** True for texts, which a message joins, and the calls behind them, with nothing that the OpenAI API lacks. */
function isPlain(blocks: readonly JsonObject[]): boolean {
  let hasCall = false
  for (const block of blocks) {
    const { text, toolUse } = block
    if (text === '') continue
    for (const name in block) {
      const isKnown = name === 'text' ? !hasCall : name === 'toolUse' && text === undefined
      if (!isKnown && block[name] !== undefined) return false
    }
    if (text !== undefined) continue
    if (!isPlainCall(toolUse)) return false
    hasCall = true
  }
  return true
}

function isPlainCall(toolUse: unknown): boolean {
  if (!isObject(toolUse)) return false
  return Object.keys(dropClientType(toolUse)).every((name) => callMembers.has(name))
}

/**
 * Returns a call without the type that some models on Bedrock write for the client's own calls. The request has
 * only one type for a call, that of a server:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
 */
export function dropClientType(toolUse: JsonObject): JsonObject {
  if (toolUse['type'] !== 'tool_use') return toolUse
  const { type: _, ...call } = toolUse
  return call
}

const callMembers: ReadonlySet<string> = new Set(['toolUseId', 'name', 'input'])
