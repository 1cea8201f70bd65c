import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { CanonicalMessage, JsonObject } from '../canonical/messages.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type FunctionTool, listOfferedTools } from '../canonical/tools.ts'
import { settleMarks, toolMarks } from '../claude/cache-marks.ts'
import { type Block, cachePoint } from './blocks.ts'
import { mayForce } from './conditions.ts'
import type { BedrockModel, CallIds, ChoiceType } from './models.ts'

export interface ToolTranslation {
  readonly config?: object
  /** Members of `additionalModelRequestFields`. */
  readonly fields: object
}

export interface ToolContext {
  readonly request: CanonicalRequest
  readonly model: BedrockModel
  /** Claude's thinking, which not every choice goes with. */
  readonly thinking: JsonObject | undefined
}

/** The functions on offer and how they may be chosen. */
export function converseTools(context: ToolContext): ToolTranslation {
  const { request, model } = context
  const past = pastTools(request.messages)
  const canForce = mayForce(model, context)
  const offered = listOfferedTools(request, canForce)
  if (offered.length === 0 || request.toolChoice?.kind === 'none') {
    if (past.length === 0) return { fields: {} }
    // Without a toolConfig the calls in the history are refused; a model that sees tools may call.
    return { config: { tools: offered.length > 0 ? specs(offered, context) : past }, fields: {} }
  }
  const tools = specs(offered, context)
  const choice = choiceOf(request, canForce)
  const unthinking = choice !== undefined && choice.type !== 'auto' && model.forcesWithoutThinking
  const fields = unthinking ? { thinking: { type: 'disabled' } } : {}
  if (request.parallelToolCalls !== false) {
    return { config: { tools, toolChoice: toolChoice(choice, model) }, fields }
  }
  // Converse has no word for it. Beside Claude's own choice there must be no other.
  const own = { type: 'auto', ...choice, disable_parallel_tool_use: true }
  return { config: { tools }, fields: { ...fields, tool_choice: own } }
}

interface Choice {
  readonly type: ChoiceType
  readonly name?: string
}

function choiceOf({ toolChoice: wish }: CanonicalRequest, canForce: boolean): Choice | undefined {
  const forced = (choice: Choice): Choice => (canForce ? choice : { type: 'auto' })
  switch (wish?.kind) {
    case undefined:
    case 'none':
    case 'custom':
      return undefined
    case 'auto':
      return { type: 'auto' }
    case 'required':
      return forced({ type: 'any' })
    case 'function':
      return forced({ type: 'tool', name: wish.name })
    case 'allowed':
      return wish.mode === 'auto' ? { type: 'auto' } : forced({ type: 'any' })
    default:
      return wish satisfies never
  }
}

/** Without a choice the model decides. */
function toolChoice(choice: Choice | undefined, { choices }: BedrockModel): object | undefined {
  if (!choice || !choices.includes(choice.type)) return undefined
  return { [choice.type]: { name: choice.name } }
}

function specs(tools: readonly FunctionTool[], { request, model }: ToolContext): object[] {
  const offered = new Set(tools)
  const marked = request.tools.flatMap((tool) => [
    ...(offered.has(tool) ? [toolSpec(tool)] : []),
    ...(model.claude ? toolMarks(tool) : []),
  ])
  return settleMarks([marked], {
    carries: () => true,
    marked: (spec, mark) => [spec, cachePoint(mark)],
  }).flat()
}

function toolSpec({ name, description, parameters, strict }: FunctionTool): Block {
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

/** The tools that the conversation has called, as far as it tells of them: their names. */
function pastTools(messages: readonly CanonicalMessage[]): object[] {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.calls : []))
  const names = new Set(calls.map(({ name }) => name))
  return [...names].map((name) => ({ toolSpec: { name, inputSchema: { json: noParameters } } }))
}

const longest = 64
/** Mistral models take no other length. */
const mistralLength = 9

/**
 * Ids of tool calls as Converse takes them, each used once, although other vendors write
 * `functions.look:0` and some clients count from 0 in every turn.
 */
export class ToolUseIds {
  readonly #form: CallIds
  readonly #latest = new Map<string, string>()
  readonly #taken = new Set<string>()
  /** How often the translation has renamed each id of the client. */
  readonly #copies = new Map<string, number>()

  constructor(form: CallIds) {
    this.#form = form
  }

  /** The id of a call. */
  opened(id: string): string {
    let legal = legalId(id, this.#form)
    let copies = this.#copies.get(id) ?? 1
    while (this.#taken.has(legal)) {
      legal = digest(`${id} ${++copies}`, this.#form === 'short' ? mistralLength : longest)
    }
    this.#copies.set(id, copies)
    this.#taken.add(legal)
    this.#latest.set(id, legal)
    return legal
  }

  /** The id of the call that a result answers: the latest one that the client calls so. */
  answered(id: string): string {
    return this.#latest.get(id) ?? this.opened(id)
  }
}

function legalId(id: string, form: CallIds): string {
  if (form === 'short') return isShort(id) ? id : digest(id, mistralLength)
  if (id.length > longest) return digest(id, longest)
  return id.replace(form === 'dotted' ? /[^a-zA-Z0-9_.:-]/g : /[^a-zA-Z0-9_-]/g, '_')
}

function isShort(id: string): boolean {
  return id.length === mistralLength && /^[a-zA-Z0-9]+$/.test(id)
}

function digest(text: string, length: number): string {
  return bytesToHex(sha256(utf8ToBytes(text))).slice(0, length)
}
