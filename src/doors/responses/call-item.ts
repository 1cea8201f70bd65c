import { RawJson } from '../../wire/json/raw.ts'
import { minifyJson } from '../../wire/json/text.ts'
import { CustomInput } from './custom-input.ts'
import type { ItemContext, ItemStatus, OutputItem } from './item.ts'
import type { ToolIdentity } from './tools.ts'

/** A call of a tool. */
export class CallItem implements OutputItem {
  readonly #place: ItemContext
  readonly #tool: ToolIdentity
  readonly #callId: string
  readonly #custom: CustomInput | undefined
  /** The arguments, or the input of a custom tool. */
  #text = ''

  constructor(place: ItemContext, tool: ToolIdentity, callId: string) {
    this.#place = place
    this.#tool = tool
    this.#callId = callId
    if (tool.type === 'custom') this.#custom = new CustomInput()
  }

  addArguments(piece: string): void {
    this.#add(this.#custom ? this.#custom.push(piece) : piece)
  }

  close(): void {
    if (this.#custom) this.#add(this.#custom.end())
    switch (this.#tool.type) {
      case 'function': {
        const { name } = this.#tool
        return this.#emit('response.function_call_arguments.done', { name, arguments: this.#text })
      }
      case 'custom':
        return this.#emit('response.custom_tool_call_input.done', { input: this.#text })
      case 'tool_search':
        return
      default:
        return this.#tool.type satisfies never
    }
  }

  render(status: ItemStatus): object {
    const { type, name, namespace } = this.#tool
    const call = { id: this.#place.id, call_id: this.#callId, status }
    const named = { name, ...(namespace !== undefined && { namespace }) }
    switch (type) {
      case 'function':
        return { ...call, type: 'function_call', ...named, arguments: this.#text }
      case 'custom':
        return { ...call, type: 'custom_tool_call', ...named, input: this.#text }
      case 'tool_search': {
        const given = status === 'in_progress' ? {} : toJsonValue(this.#text)
        return { ...call, type: 'tool_search_call', execution: 'client', arguments: given }
      }
      default:
        return type satisfies never
    }
  }

  #add(delta: string): void {
    if (delta === '') return
    this.#text += delta
    if (this.#tool.type === 'function')
      this.#emit('response.function_call_arguments.delta', { delta })
    if (this.#tool.type === 'custom') this.#emit('response.custom_tool_call_input.delta', { delta })
  }

  #emit(type: string, members: object): void {
    const { emit, id, outputIndex } = this.#place
    emit(type, { item_id: id, output_index: outputIndex, ...members })
  }
}

/** The arguments of a search are a JSON value, to the digit; a text that is none stays a text. */
function toJsonValue(text: string): unknown {
  if (text === '') return {}
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  // An event is one line.
  return new RawJson(minifyJson(text))
}
