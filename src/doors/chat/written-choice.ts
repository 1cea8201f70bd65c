import { decodeBase64, encodeBase64 } from '../../wire/base64.ts'
import { concat } from '../../wire/byte-list.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'

/** A choice of a completion, from the chunks of a stream that the gateway has written. */
export class WrittenChoice {
  readonly #index: number
  readonly #message: Record<string, unknown> = {}
  readonly #calls: WrittenCall[] = []
  readonly #tokens: unknown[] = []
  readonly #audio: string[] = []
  #end: JsonObject = {}

  constructor(index: number) {
    this.#index = index
  }

  add(choice: JsonObject): void {
    const { index: _, delta, logprobs, finish_reason: finish, ...extra } = choice
    if (isObject(delta)) {
      for (const [name, value] of Object.entries(delta)) this.#addMember(name, value)
    }
    const tokens = isObject(logprobs) ? listItems(logprobs['content']) : []
    for (const token of tokens) this.#tokens.push(token)
    if (typeof finish === 'string') this.#end = { finish_reason: finish, ...extra }
  }

  render(): object {
    const { role: _, content, ...members } = this.#message
    const calls = this.#calls.map(({ start, pieces }) => renderCall(start, pieces.join('')))
    const others = {
      ...members,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(this.#audio.length > 0 && { audio: this.#renderAudio() }),
    }
    // The role's chunk has an empty text in every stream.
    const isEmpty = content === '' && noText.some((name) => name in others)
    return {
      index: this.#index,
      message: { role: 'assistant', content: isEmpty ? null : content, ...others },
      logprobs: this.#tokens.length > 0 ? { content: this.#tokens, refusal: null } : null,
      ...this.#end,
    }
  }

  #addMember(name: string, value: unknown): void {
    const known = this.#message[name]
    if (name === 'tool_calls') for (const call of listItems(value)) this.#addCall(call)
    else if (name === 'audio' && isObject(value)) this.#addAudio(value)
    else if (Array.isArray(value)) {
      const items = name === 'thinking_blocks' ? value : value.map(dropIndex)
      this.#message[name] = [...listItems(known), ...items]
    } else if (typeof known === 'string') this.#message[name] = `${known}${value}`
    else this.#message[name] = value
  }

  /** The first piece of a call has everything but its arguments. */
  #addCall({ index, ...piece }: JsonObject): void {
    const at = Number(index)
    const call = (this.#calls[at] ??= { start: piece, pieces: [] })
    const { arguments: text } = isObject(piece['function']) ? piece['function'] : {}
    call.pieces.push(String(text ?? ''))
  }

  #addAudio({ data, ...facts }: JsonObject): void {
    this.#message['audio'] = { ...(this.#message['audio'] as object), ...facts }
    if (typeof data === 'string') this.#audio.push(data)
  }

  /** Pieces with padding cannot be joined as texts. */
  #renderAudio(): object {
    const pieces = this.#audio.map((text) => decodeBase64(text) ?? new Uint8Array(0))
    return { ...(this.#message['audio'] as object), data: encodeBase64(concat(pieces)) }
  }
}

interface WrittenCall {
  readonly start: JsonObject
  readonly pieces: string[]
}

/** The members beside which a text is absent, not empty. */
const noText = ['tool_calls', 'audio', 'refusal']

function renderCall({ function: called, ...start }: JsonObject, text: string): object {
  const { name } = isObject(called) ? called : {}
  const { id, type, ...extra } = start
  return { id, type, function: { name, arguments: text }, ...extra }
}

function dropIndex(item: unknown): unknown {
  if (!isObject(item)) return item
  const { index: _, ...rest } = item
  return rest
}

function listItems(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value : []
}
