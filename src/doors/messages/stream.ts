import type { GatewayError } from '../../core/errors.ts'
import type { Frame, RawChoice } from '../../core/frame.ts'
import { renderMessagesUsage, unknownUsage } from '../../core/messages-usage.ts'
import type { PastReasoning } from '../../core/past-reasoning.ts'
import type { WriterContext } from '../../data-plane/index.ts'
import { noBytes } from '../../stream/chunk-writer.ts'
import { Slab } from '../../stream/slab.ts'
import type { FinalUsage, StreamWriter } from '../../stream/stream-writer.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import { type ChoiceContent, readChoice } from '../choice.ts'
import { type ExtraContent, readExtraContent } from '../proofs.ts'
import { WholeCharacters } from '../whole-characters.ts'
import { ContentBlocks } from './content-blocks.ts'
import { renderMessagesError } from './error.ts'
import { renderEvent } from './events.ts'
import { newMessageId } from './ids.ts'
import { toStopFields } from './stop-reason.ts'
import { type ProvenBlock, readProven, toPastProofs } from './thinking.ts'

/** The longest explanation of a refusal that is repeated in `stop_details`, in characters. */
const maxRefusal = 64 * 1024

/** Writes the stream of another API as the events of a message. */
export class MessagesStreamWriter implements StreamWriter {
  readonly #context: WriterContext
  readonly #slab = new Slab()
  readonly #characters = new WholeCharacters()
  readonly #blocks: ContentBlocks
  /** The events that have not been returned. */
  #pending = ''
  #hasStarted = false
  #hasReasoning = false
  #hasText = false
  /** The proof of the text, and the vendor's own blocks. */
  #message: ExtraContent | undefined
  #content: JsonObject | undefined
  #refusal = ''
  #finishReason: string | undefined

  constructor(context: WriterContext) {
    this.#context = context
    this.#blocks = new ContentBlocks((name, data) => this.#add(name, data), context.model)
  }

  write({ choices }: Frame): Uint8Array {
    this.#start()
    for (const choice of choices ?? []) if (isFirst(choice)) this.#read(choice)
    return this.#take()
  }

  ping(): Uint8Array {
    this.#start()
    this.#add('ping', {})
    return this.#take()
  }

  complete(_: Frame, { usage }: FinalUsage): Uint8Array {
    this.#start()
    this.#addLateProofs()
    this.#blocks.end()
    const delta = toStopFields({
      finishReason: this.#finishReason,
      hasCalls: this.#blocks.hasCalls,
      refusal: this.#refusal,
    })
    this.#add('message_delta', { delta, usage: renderMessagesUsage(usage) })
    this.#add('message_stop', {})
    return this.#take()
  }

  /** No `message_stop` follows, so that no client takes the answer for a complete one. */
  fail(error: GatewayError): Uint8Array {
    this.#pending = ''
    this.#add('error', renderMessagesError(error, this.#context.requestId))
    return this.#take()
  }

  #start(): void {
    if (this.#hasStarted) return
    this.#hasStarted = true
    this.#add('message_start', {
      message: {
        id: newMessageId(),
        type: 'message',
        role: 'assistant',
        model: this.#context.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        usage: unknownUsage,
      },
    })
  }

  #read(choice: RawChoice): void {
    const content = this.#characters.read(readChoice(choice))
    const { reasoning, past, thinkingBlocks, text, refusal, calls, ...rest } = content
    if (reasoning !== '') this.#addReasoning(reasoning)
    this.#addProven(thinkingBlocks.flatMap((block) => readProven(block) ?? []))
    if (past) this.#addPast(past, calls)
    if (text !== '') this.#addText(text)
    if (refusal !== '') this.#addRefusal(refusal)
    for (const call of calls) this.#blocks.call(call)
    this.#addProof(rest)
    this.#finishReason = rest.finishReason ?? this.#finishReason
  }

  #addReasoning(reasoning: string): void {
    this.#hasReasoning = true
    this.#blocks.thinking(reasoning)
  }

  /**
   * The block of the thinking so far keeps its text, and the proof what the text alone does not say. Behind a text
   * it is proven only if calls follow, see `#addLateProofs`.
   */
  #addPast(past: PastReasoning, calls: ChoiceContent['calls']): void {
    const proof = toPastProofs(past, past.text)
    const mayFollow = this.#blocks.hasCalls || calls.length > 0 || !this.#hasText
    if (mayFollow) this.#blocks.prove(proof)
  }

  /** Of several proofs at once, none belongs to the whole text that has been sent. */
  #addProven(blocks: readonly ProvenBlock[]): void {
    const isMixed = this.#hasReasoning && blocks.length > 1
    for (const block of blocks) {
      if (!isMixed || block.type === 'redacted_thinking') this.#blocks.proven(block)
    }
  }

  #addProof({ extra, content }: Pick<ChoiceContent, 'extra' | 'content'>): void {
    this.#content = content ?? this.#content
    const message = readExtraContent(extra)
    if (message && !this.#hasText) this.#blocks.prove({ message })
    else this.#message = message ?? this.#message
  }

  /**
   * Adds the proofs that were complete only behind the text. No thinking follows a text, unless calls do: the
   * client runs those first. Claude Code drops an answer with thinking behind its text
   * (https://github.com/d-kuro/kirocc/issues/137), and thinking that stays open beside the text
   * (https://github.com/nielspeter/claude-code-proxy/pull/17), which SDKs report as a second text.
   */
  #addLateProofs(): void {
    const proof = { message: this.#message, content: this.#content }
    const mayFollow = this.#blocks.hasCalls || !this.#hasText
    if (mayFollow && (proof.message || proof.content)) this.#blocks.prove(proof)
  }

  #addText(text: string): void {
    this.#hasText = true
    this.#blocks.text(text)
  }

  /** A refusal is the text of an answer that has no other; it explains the end of one that has. */
  #addRefusal(refusal: string): void {
    if (this.#refusal.length < maxRefusal) this.#refusal += refusal
    if (!this.#hasText) this.#blocks.text(refusal)
  }

  #add(name: string, data: object): void {
    this.#pending += renderEvent(name, data)
  }

  #take(): Uint8Array {
    if (this.#pending === '') return noBytes
    const bytes = this.#slab.encode(this.#pending)
    this.#pending = ''
    return bytes
  }
}

/** An answer has one message; further choices are not asked for. */
function isFirst({ index }: RawChoice): boolean {
  return index === undefined || index === 0
}
