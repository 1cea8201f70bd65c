import type { PastReasoning } from '../../core/past-reasoning.ts'
import {
  type ExtraContent,
  encodeProof,
  type GivenProof,
  type KeptThinking,
  type PastProof,
} from '../proofs.ts'
import type { ItemContext, ItemStatus, OutputItem } from './item.ts'

/** The reasoning of the model, with the proofs that its vendor expects back. */
export class ReasoningItem implements OutputItem {
  readonly #place: ItemContext
  readonly #model: string
  readonly #thinking: KeptThinking[] = []
  readonly #calls: { readonly id: string; readonly extra: ExtraContent }[] = []
  readonly #past: PastProof[] = []
  #message: ExtraContent | undefined
  #content: object | undefined
  #text: string | undefined

  /** `model` is the client-facing id of the model that answers. */
  constructor(place: ItemContext, model: string) {
    this.#place = place
    this.#model = model
  }

  addText(delta: string): void {
    if (this.#text === undefined) {
      this.#text = ''
      this.#emit('response.reasoning_summary_part.added', { part: renderSummary('') })
    }
    this.#text += delta
    this.#emit('response.reasoning_summary_text.delta', { delta })
  }

  /** Adds what the upstream expects back of the reasoning so far. */
  addPast({ lineage, form, text, entries, gap }: PastReasoning): void {
    this.#past.push({ lineage, form, text, entries: entries && [...entries], gap })
  }

  addThinking(blocks: readonly KeptThinking[]): void {
    for (const block of blocks) this.#thinking.push(block)
  }

  addCallProof(id: string, extra: ExtraContent): void {
    this.#calls.push({ id, extra })
  }

  addMessageProof(extra: ExtraContent): void {
    this.#message = extra
  }

  /** Adds the vendor's own blocks of the whole answer. */
  addContent(content: object): void {
    this.#content = content
  }

  close(): void {
    if (this.#text === undefined) return
    this.#emit('response.reasoning_summary_text.done', { text: this.#text })
    this.#emit('response.reasoning_summary_part.done', { part: renderSummary(this.#text) })
  }

  render(status: ItemStatus): object {
    const summary = this.#text === undefined ? [] : [renderSummary(this.#text)]
    // It is complete only at the end of the item.
    const content = status === 'in_progress' ? undefined : encodeProof(this.#proof)
    return {
      id: this.#place.id,
      type: 'reasoning',
      summary,
      encrypted_content: content ?? null,
      status,
    }
  }

  get #proof(): GivenProof {
    return {
      model: this.#model,
      ...(this.#past.length > 0 && { past: this.#past }),
      ...(this.#thinking.length > 0 && { thinking: this.#thinking }),
      ...(this.#calls.length > 0 && { calls: this.#calls }),
      ...(this.#message && { message: this.#message }),
      ...(this.#content && { content: this.#content }),
    }
  }

  #emit(type: string, members: object): void {
    const { emit, id, outputIndex } = this.#place
    emit(type, { item_id: id, output_index: outputIndex, summary_index: 0, ...members })
  }
}

function renderSummary(text: string): object {
  return { type: 'summary_text', text }
}
