import type { ItemContext, ItemStatus, OutputItem } from './item.ts'

/** A message of the model, with a part of text, a refusal, or both. */
export class MessageItem implements OutputItem {
  readonly #place: ItemContext
  readonly #parts: (TextPart | RefusalPart)[] = []

  constructor(place: ItemContext) {
    this.#place = place
  }

  addText(delta: string): void {
    const [part, at] = this.#open('output_text')
    part.text += delta
    this.#emit('response.output_text.delta', { content_index: at, delta, logprobs: [] })
  }

  addRefusal(delta: string): void {
    const [part, at] = this.#open('refusal')
    part.text += delta
    this.#emit('response.refusal.delta', { content_index: at, delta })
  }

  addAnnotation(annotation: object): void {
    const [part, at] = this.#open('output_text')
    this.#emit('response.output_text.annotation.added', {
      content_index: at,
      annotation_index: part.annotations.push(annotation) - 1,
      annotation,
    })
  }

  /** Opens the text part, for an answer without any text. */
  addNothing(): void {
    this.#open('output_text')
  }

  close(): void {
    for (const [at, part] of this.#parts.entries()) {
      if (part.type === 'output_text') {
        const done = { content_index: at, text: part.text, logprobs: [] }
        this.#emit('response.output_text.done', done)
      } else {
        this.#emit('response.refusal.done', { content_index: at, refusal: part.text })
      }
      this.#emit('response.content_part.done', { content_index: at, part: renderPart(part) })
    }
  }

  render(status: ItemStatus): object {
    const content = this.#parts.map(renderPart)
    return { id: this.#place.id, type: 'message', status, role: 'assistant', content }
  }

  #open(type: 'output_text'): [TextPart, number]
  #open(type: 'refusal'): [RefusalPart, number]
  #open(type: MessagePart['type']): [MessagePart, number] {
    const open = this.#parts.findIndex((part) => part.type === type)
    const known = this.#parts[open]
    if (known) return [known, open]
    const part: MessagePart =
      type === 'output_text' ? { type, text: '', annotations: [] } : { type, text: '' }
    const at = this.#parts.push(part) - 1
    this.#emit('response.content_part.added', { content_index: at, part: renderPart(part) })
    return [part, at]
  }

  #emit(type: string, members: object): void {
    const { emit, id, outputIndex } = this.#place
    emit(type, { item_id: id, output_index: outputIndex, ...members })
  }
}

interface TextPart {
  readonly type: 'output_text'
  text: string
  readonly annotations: object[]
}

interface RefusalPart {
  readonly type: 'refusal'
  text: string
}

type MessagePart = TextPart | RefusalPart

function renderPart(part: MessagePart): object {
  return part.type === 'refusal'
    ? { type: 'refusal', refusal: part.text }
    : { type: 'output_text', text: part.text, annotations: part.annotations, logprobs: [] }
}
