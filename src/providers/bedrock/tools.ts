import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import type { CanonicalMessage } from '../canonical/messages.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type FunctionTool, listOfferedTools } from '../canonical/tools.ts'
import { type ClaudeBlock, placeMarks, readToolMark } from '../claude/cache-marks.ts'
import {
  type ClaudeToolChoice,
  limitParallelCalls,
  toClaudeToolChoice,
} from '../claude/tool-choice.ts'
import { toolMarkRules } from './blocks.ts'
import { canForceCalls } from './conditions.ts'
import type { BedrockModel, ToolUseIdForm } from './models.ts'

export interface ToolFields {
  /** The `toolConfig` of the body. */
  readonly config?: object
  /** Members of `additionalModelRequestFields`. */
  readonly additional: object
}

export interface ToolInput {
  readonly request: CanonicalRequest
  readonly model: BedrockModel
  /** Claude's `thinking` field, which rules out some choices. */
  readonly thinking: JsonObject | undefined
}

/** Translates the offered tools and the choice among them. */
export function toToolFields(input: ToolInput): ToolFields {
  const { request, model, thinking } = input
  const past = toPastToolSpecs(request.messages)
  const canForce = canForceCalls(model, thinking)
  const offered = listOfferedTools(request, canForce)
  const system = listSystemTools(request)
  const claudes = listClaudeTools(request, canForce)
  if (
    offered.length + system.length + claudes.length === 0 ||
    request.toolChoice?.kind === 'none'
  ) {
    if (past.length === 0) return { additional: {} }
    // Converse rejects a history of calls without `toolConfig`, although a model that gets tools may
    // call them.
    const tools = offered.length > 0 ? toMarkedSpecs(offered, input) : past
    return { config: { tools }, additional: {} }
  }
  const specs = [...toMarkedSpecs(offered, input), ...system]
  const tools = specs.length > 0 ? specs : [noTool]
  const choice = toClaudeToolChoice(request, canForce)
  const isForced = choice !== undefined && choice.type !== 'auto'
  const additional = {
    ...(isForced && model.mustDisableThinkingToForce && { thinking: { type: 'disabled' } }),
    ...(claudes.length > 0 && { tools: claudes }),
  }
  // Converse cannot limit parallel calls, nor name Claude's own tools: such a choice goes to Claude itself.
  if (request.parallelToolCalls === false || claudes.length > 0) {
    const own = limitParallelCalls(choice, request)
    return { config: { tools }, additional: { ...additional, tool_choice: own } }
  }
  return { config: { tools, toolChoice: toToolChoice(choice, model) }, additional }
}

/** Lists the tools that AWS runs, with the search that `web_search_options` asks for. */
function listSystemTools({ vendorTools, webSearch }: CanonicalRequest): readonly object[] {
  const given = vendorTools.flatMap(({ owner, raw }) => (owner === 'bedrock' ? [raw] : []))
  const isSearching = given.some(
    ({ systemTool: tool }) => isObject(tool) && tool['name'] === groundingName,
  )
  return webSearch && !isSearching ? [...given, { systemTool: { name: groundingName } }] : given
}

/**
 * Lists the tools that Anthropic defines, which go to Claude in the additional fields, beside a `toolConfig`:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/computer-use.html. AWS accepts those that the client
 * runs; web search is rejected, and tool search is for `InvokeModel` only:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-tool-use.html
 */
function listClaudeTools(
  { vendorTools, toolChoice }: CanonicalRequest,
  canForce: boolean,
): readonly object[] {
  const given = vendorTools.flatMap(({ owner, raw }) => (owner === 'anthropic' ? [raw] : []))
  // Where no call can be forced, a named tool is the only one on offer.
  const isNamed = toolChoice?.kind === 'function' && !canForce
  return isNamed ? given.filter(({ name }) => name === toolChoice.name) : given
}

/** Fills the `toolConfig` of a request with no other tools than Claude's own, whose names it may not repeat. */
const noTool = Object.freeze({
  toolSpec: {
    name: 'no_tool',
    description: 'This is not a tool. Never call it.',
    inputSchema: { json: { type: 'object', properties: {} } },
  },
})

/** https://docs.aws.amazon.com/nova/latest/nova2-userguide/web-grounding.html */
const groundingName = 'nova_grounding'

/** Returns undefined for a choice that the model does not take: then the model decides. */
function toToolChoice(
  choice: ClaudeToolChoice | undefined,
  { choices }: BedrockModel,
): object | undefined {
  if (!choice || !choices.includes(choice.type)) return undefined
  return { [choice.type]: { name: choice.name } }
}

function toMarkedSpecs(tools: readonly FunctionTool[], { request, model }: ToolInput): object[] {
  const offered = new Set(tools)
  const marked = request.tools.flatMap((tool) => [
    ...(offered.has(tool) ? [toToolSpec(tool)] : []),
    ...(model.claude ? readToolMark(tool) : []),
  ])
  return placeMarks([marked], toolMarkRules).flat()
}

function toToolSpec({ name, description, parameters, strict }: FunctionTool): ClaudeBlock {
  return {
    toolSpec: {
      name,
      description: description?.trim() ? description : undefined,
      inputSchema: { json: parameters ? { type: 'object', ...parameters } : noParameters },
      strict: strict || undefined,
    },
  }
}

const noParameters = { type: 'object', properties: {} }

/** Makes up the tools that the conversation has called. Only their names are known. */
function toPastToolSpecs(messages: readonly CanonicalMessage[]): object[] {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.calls : []))
  const names = new Set(calls.map(({ name }) => name))
  return [...names].map((name) => ({ toolSpec: { name, inputSchema: { json: noParameters } } }))
}

/**
 * Characters of a `toolUseId`.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
 */
const maxIdLength = 64
/** Mistral models accept ids of exactly this length. */
const shortIdLength = 9

/**
 * Ids of tool calls in the form that the model accepts, each used once. Other vendors write ids such
 * as `functions.look:0`, and some clients count from 0 in every turn.
 */
export class ToolUseIds {
  readonly #form: ToolUseIdForm
  readonly #latest = new Map<string, string>()
  readonly #taken = new Set<string>()
  /** How many ids each of the client's ids has been given. */
  readonly #copies = new Map<string, number>()

  constructor(form: ToolUseIdForm) {
    this.#form = form
  }

  /** Returns the id for a call that the client names `id`. */
  assign(id: string): string {
    let unique = toValidId(id, this.#form)
    let copies = this.#copies.get(id) ?? 1
    while (this.#taken.has(unique)) {
      unique = digest(`${id} ${++copies}`, this.#form === 'short' ? shortIdLength : maxIdLength)
    }
    this.#copies.set(id, copies)
    this.#taken.add(unique)
    this.#latest.set(id, unique)
    return unique
  }

  /** Returns the id of the latest call that the client names `id`, for the result that answers it. */
  resolve(id: string): string {
    return this.#latest.get(id) ?? this.assign(id)
  }
}

function toValidId(id: string, form: ToolUseIdForm): string {
  if (form === 'short') return isShortId(id) ? id : digest(id, shortIdLength)
  if (id.length > maxIdLength) return digest(id, maxIdLength)
  return id.replace(form === 'dotted' ? /[^a-zA-Z0-9_.:-]/g : /[^a-zA-Z0-9_-]/g, '_')
}

function isShortId(id: string): boolean {
  return id.length === shortIdLength && /^[a-zA-Z0-9]+$/.test(id)
}

function digest(text: string, length: number): string {
  return bytesToHex(sha256(utf8ToBytes(text))).slice(0, length)
}
