import * as z from 'zod'
import { list, loose } from '../../core/as-sent.ts'
import { callArguments } from '../../core/chat.ts'
import type { Steps } from '../../core/steps.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { extractTexts } from '../../wire/json/text.ts'
import { toTextProof } from '../proofs.ts'
import type { RequestProofs } from '../request-proofs.ts'
import { itemContent, onlyNative, parseFields, toChatParts, toTexts } from './content.ts'
import { ConversationBuilder } from './conversation.ts'
import type { Item } from './fields.ts'
import { readReasoningText, reasoningItemFields } from './reasoning-input.ts'
import { type ToolCollector, type ToolIdentity, toolSearch } from './tools.ts'

const text = z.string().nullish()

const message = loose({ role: z.string(), content: itemContent })

const functionCall = loose({
  call_id: z.string(),
  name: z.string(),
  namespace: text,
  arguments: callArguments.nullish(),
})

const customCall = loose({ call_id: z.string(), name: z.string(), namespace: text, input: text })

const callOutput = loose({ call_id: z.string(), output: itemContent })

const itemReference = loose({ id: z.string() })

const toolList = list(loose({ type: z.string() }))

const additionalTools = loose({ tools: toolList })

const searchCall = loose({ call_id: text, execution: text, arguments: z.unknown() })

const searchOutput = loose({ call_id: text, tools: toolList })

/** The body of a request, and what the gateway has encoded in it. */
export interface RequestBody {
  readonly bytes: Uint8Array
  readonly proofs: RequestProofs
}

/** Reads the items of a request one after the other, into messages and tools of the chat API. */
export class ItemReader {
  /** The paths of the items that are left out. */
  readonly leftOut: string[] = []
  readonly conversation = new ConversationBuilder()
  readonly #tools: ToolCollector
  readonly #body: RequestBody
  #argumentTexts: ReadonlyMap<string, string> | undefined

  constructor(tools: ToolCollector, body: RequestBody) {
    this.#tools = tools
    this.#body = body
  }

  /**
   * Reads one item, and returns the steps that are left for one that brings tools. Both throw
   * `UntranslatableError` when the chat API cannot express it.
   */
  read(item: Item, path: string): Steps<unknown> | undefined {
    const { type } = item
    switch (type ?? 'message') {
      case 'message':
        this.#readMessage(item, path)
        return undefined
      case 'function_call':
        this.#readFunctionCall(item, path)
        return undefined
      case 'custom_tool_call':
        this.#readCustomCall(item, path)
        return undefined
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#readOutput(item, path)
        return undefined
      case 'reasoning':
        this.#readReasoning(item, path)
        return undefined
      case 'additional_tools':
        return this.#tools.add(parseFields(additionalTools, item, path).tools, `${path}.tools`)
      case 'tool_search_call':
        this.#readSearch(item, path)
        return undefined
      case 'tool_search_output':
        return this.#readSearchOutput(item, path)
      case 'item_reference':
        checkReference(item, path)
        return undefined
      case 'web_search_call':
        // The answer that followed holds what was found.
        this.leftOut.push(path)
        return undefined
      default:
        throw onlyNative(`${path}.type`, 'items of this type')
    }
  }

  #readMessage(item: Item, path: string): void {
    const { role, content } = parseFields(message, item, path)
    switch (role) {
      case 'user':
        return this.conversation.addMessage('user', toChatParts(content, `${path}.content`), path)
      case 'system':
      case 'developer':
        return this.conversation.addMessage('system', toChatParts(content, `${path}.content`), path)
      case 'assistant':
        return this.conversation.addText(toTexts(content, `${path}.content`).join(''), path)
      default: {
        const rule = 'must be user, assistant, system or developer'
        throw new UntranslatableError(`${path}.role: ${rule}`, `${path}.role`)
      }
    }
  }

  #readFunctionCall(item: Item, path: string): void {
    const { call_id, name, namespace, arguments: given } = parseFields(functionCall, item, path)
    const identity = { type: 'function', name, namespace: namespace ?? undefined } as const
    const written = typeof given === 'object' ? this.#readRawArguments(given, path) : (given ?? '')
    this.#addCall(identity, { id: call_id, arguments: written, path })
  }

  #readCustomCall(item: Item, path: string): void {
    const { call_id, name, namespace, input } = parseFields(customCall, item, path)
    const identity = { type: 'custom', name, namespace: namespace ?? undefined } as const
    const written = JSON.stringify({ input: input ?? '' })
    this.#addCall(identity, { id: call_id, arguments: written, path })
  }

  /** A search that the vendor ran has no id; the tools that it found are in its output. */
  #readSearch(item: Item, path: string): void {
    const { call_id: id, execution, arguments: given } = parseFields(searchCall, item, path)
    if (!id || execution === 'server') return
    const written = this.#readRawArguments(given, path)
    this.#addCall(toolSearch, { id, arguments: written, path })
  }

  *#readSearchOutput(item: Item, path: string): Steps<void> {
    const { call_id: callId, tools } = parseFields(searchOutput, item, path)
    const names = yield* this.#tools.addFound(tools, `${path}.tools`)
    if (!callId || item['execution'] === 'server') return
    const result = JSON.stringify({ tools: names })
    const parts = [{ part: { type: 'text', text: result }, path }]
    this.conversation.addResult({ callId, parts, path })
  }

  #addCall(
    identity: ToolIdentity,
    call: { readonly id: string; readonly arguments: string; readonly path: string },
  ): void {
    this.conversation.addCall({ ...call, name: this.#tools.addCalled(identity) })
  }

  #readOutput(item: Item, path: string): void {
    const { call_id: callId, output } = parseFields(callOutput, item, path)
    const parts = toChatParts(output, `${path}.output`)
    this.conversation.addResult({ callId, parts, path })
  }

  #readReasoning(item: Item, path: string): void {
    const { encrypted_content: content } = parseFields(reasoningItemFields, item, path)
    if (content) {
      const proof = this.#body.proofs.read(content)
      if (proof) this.conversation.addProof(proof, path)
      return
    }
    const shown = readReasoningText(item)
    if (shown !== '') this.conversation.addProof(toTextProof(shown), path)
  }

  /** Returns the exact text of arguments that are no string: parsing would round large numbers. */
  #readRawArguments(given: unknown, path: string): string {
    if (given === undefined || given === null) return ''
    this.#argumentTexts ??= extractTexts(decoder.decode(this.#body.bytes), 'input.*.arguments')
    return this.#argumentTexts.get(`${path}.arguments`) ?? JSON.stringify(given)
  }
}

const decoder = new TextDecoder()

/** Clients that expect the vendor to keep items refer to them. Reasoning can be left out. */
function checkReference(item: Item, path: string): void {
  const { id } = parseFields(itemReference, item, path)
  if (id.startsWith('rs_')) return
  throw new UntranslatableError(
    `${path}.id: the gateway keeps no items; set store to false, so that the client sends them whole`,
    `${path}.id`,
  )
}
