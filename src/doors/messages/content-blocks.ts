import { UpstreamFault } from '../../core/failure.ts'
import type { CallContent } from '../choice.ts'
import type { GivenProof } from '../proofs.ts'
import { AnswerToolIds } from './ids.ts'
import { type ProvenBlock, toCallProofs, toProofBlocks } from './thinking.ts'
import { ObjectProgress, toInputText } from './tool-input.ts'

/** Receives the events of content blocks, in order. */
export type EmitEvent = (name: string, data: object) => void

/** The longest text that waits for the end of an earlier call, in characters. */
const maxHeld = 8 * 1024 * 1024

/**
 * Arranges what arrives as content blocks: dense indexes, one block open at a time. A piece that belongs to
 * a later block than the open one is held until the open block can end. Only calls cannot end at once:
 * vendors may interleave the arguments of parallel calls.
 */
export class ContentBlocks {
  readonly #emit: EmitEvent
  readonly #model: string
  readonly #ids = new AnswerToolIds()
  readonly #queue: Block[] = []
  /** By the vendor's position. */
  readonly #calls = new Map<number, CallBlock>()
  #latest: CallBlock | undefined
  #index = 0
  #held = 0

  /** `model` is the client-facing id of the model that answers. */
  constructor(emit: EmitEvent, model: string) {
    this.#emit = emit
    this.#model = model
  }

  get hasCalls(): boolean {
    return this.#latest !== undefined
  }

  text(piece: string): void {
    this.#addPiece('text', piece)
  }

  thinking(piece: string): void {
    this.#addPiece('thinking', piece)
  }

  /** Adds thinking with its proof. The text of the last thinking block has already been sent. */
  proven(block: ProvenBlock): void {
    const last = this.#queue.at(-1)
    if (block.type === 'thinking' && last instanceof ProseBlock && last.kind === 'thinking') {
      last.signature = block.signature
    } else {
      this.#queue.push(new ProvenThinking(block))
    }
    this.#advance(false)
  }

  /** Signs the thinking before, or adds thinking without text for the signature. */
  prove(proof: Omit<GivenProof, 'model'>): void {
    for (const block of toProofBlocks({ model: this.#model, ...proof })) this.proven(block)
  }

  /** Adds a call, or the next piece of one. */
  call(piece: CallContent): void {
    const call = this.#findCall(piece) ?? this.#addCall(piece)
    call.add(piece)
    this.#hold(piece.arguments.length)
    this.#advance(false)
  }

  /** Ends every block. */
  end(): void {
    this.#advance(true)
  }

  #addPiece(kind: ProseBlock['kind'], piece: string): void {
    const last = this.#queue.at(-1)
    if (last instanceof ProseBlock && last.accepts(kind)) last.add(piece)
    else this.#queue.push(new ProseBlock(kind, piece))
    this.#hold(piece.length)
    this.#advance(false)
  }

  /** Vendors may leave out the index, or give the same one to several calls with different ids. */
  #findCall({ index, id, name }: CallContent): CallBlock | undefined {
    const known = index === undefined ? this.#latest : this.#calls.get(index)
    // Some servers give each piece of one call an id of its own, but only the first one a name.
    const isNamed = name !== '' && id !== ''
    const isOther = known !== undefined && isNamed && known.id !== '' && id !== known.id
    const isNew = !known || isOther || (index === undefined && id === '' && name !== '')
    return isNew ? undefined : known
  }

  #addCall({ index, id, extra }: CallContent): CallBlock {
    const call = new CallBlock(this.#ids)
    const calls = extra ? toCallProofs({ id: call.identify(id), extra }) : []
    if (calls.length > 0) this.prove({ calls })
    this.#queue.push(call)
    this.#latest = call
    this.#calls.set(index ?? this.#calls.size, call)
    return call
  }

  #hold(length: number): void {
    this.#held += length
    if (this.#queue.length > 1 && this.#held > maxHeld) {
      throw new UpstreamFault({
        kind: 'malformed',
        detail: 'a tool call of the stream does not end before others begin',
      })
    }
  }

  /** Emits what can be emitted: `isOver` when nothing follows. */
  #advance(isOver: boolean): void {
    for (let head = this.#queue[0]; head; head = this.#queue[0]) {
      const index = this.#index
      if (!head.hasStarted) {
        const start = head.start(isOver)
        if (!start) return
        this.#emit('content_block_start', { index, content_block: start })
      }
      const mayEnd = head.isOver || (this.#queue.length > 1 && head.canEnd)
      for (const delta of head.take(isOver || mayEnd)) {
        this.#emit('content_block_delta', { index, delta })
      }
      if (this.#queue.length === 1) this.#held = 0
      if (!isOver && !mayEnd) return
      this.#emit('content_block_stop', { index })
      this.#index++
      this.#queue.shift()
    }
    this.#held = 0
  }
}

interface Block {
  readonly hasStarted: boolean
  /** Nothing can be added to the block. */
  readonly isOver: boolean
  /** The block may end because another one follows. */
  readonly canEnd: boolean
  /** Starts the block; undefined while too little of it is known, unless the stream is over. */
  start(isStreamOver: boolean): object | undefined
  /** Returns the deltas of what is held; `isLast` when the block then ends. */
  take(isLast: boolean): readonly object[]
}

/** Text or thinking. */
class ProseBlock implements Block {
  readonly kind: 'text' | 'thinking'
  readonly canEnd = true
  hasStarted = false
  /** Ends thinking: it follows all of the text. */
  signature = ''
  #held: string

  constructor(kind: ProseBlock['kind'], piece: string) {
    this.kind = kind
    this.#held = piece
  }

  get isOver(): boolean {
    return this.signature !== ''
  }

  accepts(kind: ProseBlock['kind']): boolean {
    return kind === this.kind && !this.isOver
  }

  add(piece: string): void {
    this.#held += piece
  }

  start(): object {
    this.hasStarted = true
    return this.kind === 'text'
      ? { type: 'text', text: '' }
      : { type: 'thinking', thinking: '', signature: '' }
  }

  take(isLast: boolean): readonly object[] {
    const held = this.#held
    this.#held = ''
    const deltas: object[] = []
    if (held !== '') {
      deltas.push(
        this.kind === 'text'
          ? { type: 'text_delta', text: held }
          : { type: 'thinking_delta', thinking: held },
      )
    }
    if (isLast && this.signature !== '') {
      deltas.push({ type: 'signature_delta', signature: this.signature })
    }
    return deltas
  }
}

/** Thinking whose text has not been sent: redacted, or not shown. */
class ProvenThinking implements Block {
  readonly isOver = true
  readonly canEnd = true
  readonly #block: ProvenBlock
  hasStarted = false

  constructor(block: ProvenBlock) {
    this.#block = block
  }

  start(): object {
    this.hasStarted = true
    const { type } = this.#block
    return type === 'redacted_thinking' ? this.#block : { type, thinking: '', signature: '' }
  }

  take(): readonly object[] {
    const block = this.#block
    if (block.type === 'redacted_thinking') return []
    const { thinking, signature } = block
    return [
      ...(thinking === '' ? [] : [{ type: 'thinking_delta', thinking }]),
      { type: 'signature_delta', signature },
    ]
  }
}

/** A tool call. Its pieces join to one JSON object; no pieces mean an empty one. */
class CallBlock implements Block {
  readonly isOver = false
  readonly #ids: AnswerToolIds
  readonly #progress = new ObjectProgress()
  hasStarted = false
  /** As the vendor wrote it. */
  id = ''
  /** As the client knows it. */
  #ownId: string | undefined
  #name = ''
  #held = ''
  /** A piece of the arguments has been sent. */
  #hasInput = false
  /** The arguments begin as an object, so they can be sent as they arrive. */
  #isObject = false

  constructor(ids: AnswerToolIds) {
    this.#ids = ids
  }

  get canEnd(): boolean {
    return this.#progress.isComplete
  }

  /** Fixes the id that the client gets. `id` is the vendor's, or empty. */
  identify(id: string): string {
    this.#ownId ??= this.#ids.assign(id)
    return this.#ownId
  }

  add({ id, name, arguments: piece }: CallContent): void {
    this.id ||= id
    this.#name ||= name
    if (this.#progress.isComplete) return
    this.#held += piece
    if (!this.#isObject) {
      this.#isObject = /^\s*\{/.test(this.#held)
      if (this.#isObject) this.#progress.push(this.#held)
    } else {
      this.#progress.push(piece)
    }
  }

  start(isStreamOver: boolean): object | undefined {
    if (this.#name === '' && !isStreamOver) return undefined
    this.hasStarted = true
    return { type: 'tool_use', id: this.identify(this.id), name: this.#name, input: {} }
  }

  take(isLast: boolean): readonly object[] {
    if (!this.#isObject && !isLast) return []
    const held = this.#isObject ? this.#held : toInputText(this.#held)
    this.#held = ''
    const isNothing = held === '' || (held === '{}' && !this.#hasInput)
    if (isNothing) return []
    this.#hasInput = true
    return [{ type: 'input_json_delta', partial_json: held }]
  }
}
