import { newCallId } from '../../core/ids.ts'
import type { Steps } from '../../core/steps.ts'
import type { CallContent, ChoiceContent } from '../choice.ts'
import { type ExtraContent, readExtraContent, readKeptThinking } from '../proofs.ts'
import { toAnnotations } from './annotations.ts'
import { CallItem } from './call-item.ts'
import type { Emit, ItemContext, ItemStatus, OutputItem } from './item.ts'
import { MessageItem } from './message-item.ts'
import { ReasoningItem } from './reasoning-item.ts'
import { findTool, type ToolIdentities } from './tools.ts'

export interface OutputOptions {
  readonly emit: Emit
  /** The id of the response, from which the ids of its items are made. */
  readonly responseId: string
  /** The client-facing id of the model that answers. */
  readonly model: string
  readonly names: ToolIdentities
}

/** How many calls are added, or items ended, between two yields: less than a millisecond's work. */
const itemsAtOnce = 64

/**
 * Makes the output items of one response from the deltas of a chat answer. Items get their places as they
 * begin. A reasoning item ends where something else begins; the message and the calls end together, since
 * their deltas may alternate.
 */
export class ResponseOutput {
  readonly #options: OutputOptions
  readonly #items: PlacedItem[] = []
  readonly #calls: Call[] = []
  /** The latest call of each index. */
  readonly #byIndex = new Map<number, Call>()
  #reasoning: Open<ReasoningItem> | undefined
  #message: Open<MessageItem> | undefined
  #latestCall: Call | undefined

  constructor(options: OutputOptions) {
    this.#options = options
  }

  /** Adds a delta. */
  add(delta: ChoiceContent): void {
    this.#addTexts(delta)
    this.addCalls(delta.calls)
    this.addMessageProof(delta.extra)
  }

  #addTexts({
    reasoning,
    past,
    thinkingBlocks,
    content,
    text,
    refusal,
    annotations,
  }: ChoiceContent): void {
    if (reasoning !== '') this.#openReasoning().addText(reasoning)
    if (past) this.#openReasoning().addPast(past)
    const thinking = readKeptThinking(thinkingBlocks)
    if (thinking.length > 0) this.#openReasoning().addThinking(thinking)
    if (content) this.#openReasoning().addContent(content)
    if (text !== '') this.#openMessage().addText(text)
    if (refusal !== '') this.#openMessage().addRefusal(refusal)
    for (const citation of toAnnotations(annotations)) this.#openMessage().addAnnotation(citation)
  }

  /** Adds the proof of the text, which a delta may have. */
  addMessageProof(extra: ChoiceContent['extra']): void {
    const proof = readExtraContent(extra)
    if (proof) this.#openReasoning().addMessageProof(proof)
  }

  addCalls(calls: readonly CallContent[]): void {
    for (const call of calls) this.#addCall(call)
  }

  /** Adds a whole answer. Its calls are in order, without indexes. */
  *addInSteps(message: ChoiceContent): Steps<void> {
    this.#addTexts(message)
    for (const [index, call] of message.calls.entries()) {
      this.#addCall({ ...call, index })
      if (index % itemsAtOnce === itemsAtOnce - 1) yield
    }
    this.addMessageProof(message.extra)
  }

  /** Ends all items. With `incomplete`, the last one was cut off. */
  *finish(status: 'completed' | 'incomplete'): Steps<void> {
    for (const call of this.#calls) if (!call.item) this.#beginCall(call)
    const hasAnswer = this.#message !== undefined || this.#calls.length > 0
    // Agents that get neither text nor a call would ask again.
    if (!hasAnswer) this.#openMessage().addNothing()
    const last = this.#items.findLast(({ item }) => !(item instanceof ReasoningItem))
    for (const [at, placed] of this.#items.entries()) {
      if (placed.done) continue
      this.#close(placed, placed === last ? status : 'completed')
      if (at % itemsAtOnce === itemsAtOnce - 1) yield
    }
  }

  /** Renders all items; those that have not ended are incomplete. */
  render(): readonly object[] {
    return this.#items.map(({ item, done }) => done ?? item.render('incomplete'))
  }

  #openReasoning(): ReasoningItem {
    this.#reasoning ??= this.#open('rs', (place) => new ReasoningItem(place, this.#options.model))
    return this.#reasoning.item
  }

  #openMessage(): MessageItem {
    this.#closeReasoning()
    this.#message ??= this.#open('msg', (place) => new MessageItem(place))
    return this.#message.item
  }

  #addCall(delta: CallContent): void {
    const call = this.#findCall(delta)
    this.#latestCall = call
    call.id ||= delta.id
    call.name ||= delta.name
    const proof = readExtraContent(delta.extra)
    call.proof ??= proof
    call.held += delta.arguments
    // An item cannot begin without its name.
    if (!call.item && call.name !== '') this.#beginCall(call)
    else if (call.item && proof) this.#prove(call)
    if (!call.item || call.held === '') return
    call.item.addArguments(call.held)
    call.held = ''
  }

  /** Some servers leave out the index, or repeat it for a further call, which then has an id of its own. */
  #findCall({ index, id, name }: CallContent): Call {
    const known = index === undefined ? this.#latestCall : this.#byIndex.get(index)
    const isOther = known && name !== '' && id !== '' && known.id !== '' && id !== known.id
    if (known && !isOther) return known
    const call: Call = { id: '', name: '', held: '', proof: undefined, item: undefined }
    this.#calls.push(call)
    if (index !== undefined) this.#byIndex.set(index, call)
    return call
  }

  #beginCall(call: Call): void {
    call.id ||= newCallId()
    this.#prove(call)
    this.#closeReasoning()
    const tool = findTool(this.#options.names, call.name)
    const prefix = tool.type === 'function' ? 'fc' : tool.type === 'custom' ? 'ctc' : 'tsc'
    call.item = this.#open(prefix, (place) => new CallItem(place, tool, call.id)).item
  }

  /** The proof of a call is in the reasoning before it. */
  #prove({ id, proof }: Call): void {
    if (proof) this.#openReasoning().addCallProof(id, proof)
  }

  #closeReasoning(): void {
    if (this.#reasoning) this.#close(this.#reasoning, 'completed')
    this.#reasoning = undefined
  }

  #open<Item extends OutputItem>(prefix: string, create: (place: ItemContext) => Item): Open<Item> {
    const { emit, responseId } = this.#options
    const outputIndex = this.#items.length
    // The number keeps the ids of one response apart.
    const id = `${prefix}_${responseId.replace(/^resp_/, '')}${outputIndex.toString(16).padStart(2, '0')}`
    const placed: Open<Item> = {
      item: create({ emit, outputIndex, id }),
      outputIndex,
      done: undefined,
    }
    this.#items.push(placed)
    const item = placed.item.render('in_progress')
    emit('response.output_item.added', { output_index: outputIndex, item })
    return placed
  }

  #close(placed: PlacedItem, status: ItemStatus): void {
    placed.item.close()
    placed.done = placed.item.render(status)
    const { outputIndex, done } = placed
    this.#options.emit('response.output_item.done', { output_index: outputIndex, item: done })
  }
}

interface Open<Item extends OutputItem> {
  readonly item: Item
  readonly outputIndex: number
  /** The item as it ended. */
  done: object | undefined
}

type PlacedItem = Open<OutputItem>

interface Call {
  id: string
  name: string
  proof: ExtraContent | undefined
  /** Arguments that wait for the name. */
  held: string
  item: CallItem | undefined
}
