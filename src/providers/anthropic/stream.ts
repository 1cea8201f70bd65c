import { type Frame, type FrameDecoder, flatMapFrames } from '../../core/frame.ts'
import { newCallId, newCompletionId } from '../../core/ids.ts'
import { ChunkWriter, createFailedFrame, noBytes } from '../../stream/chunk-writer.ts'
import { isObject, tryParseJson } from '../../wire/json/parse.ts'
import { RepeatedJson } from '../../wire/json/repeated.ts'
import { extractItems, extractTexts } from '../../wire/json/text.ts'
import { type RawEvent, SseSplitter } from '../../wire/sse.ts'
import { IndexedAnnotations } from '../canonical/annotations.ts'
import { normalizeArguments } from '../canonical/completion.ts'
import { ThinkingWriter } from '../claude/thinking-writer.ts'
import type { AnswerContext, ContentBlock } from './answer.ts'
import { findEventError } from './errors.ts'
import { type Delta, repeatedDeltas, type StreamEvent } from './events.ts'
import { mapFinishReason } from './finish-reason.ts'
import { StreamedContent } from './stream-content.ts'
import { addCounters, addStartCounters, parseUsage } from './usage.ts'

/** A call whose block has started and not ended. */
interface OpenCall {
  /** Its position among the calls; blocks of other types do not count. */
  readonly index: number
  /** Reads the block as it started, as JSON. Its arguments count if no fragment follows. */
  readonly readStart: () => string
  hasArguments: boolean
}

/** Translates the events of a streamed message into chunks, each as soon as it arrives. */
export class AnthropicStream implements FrameDecoder {
  readonly #context: AnswerContext
  readonly #splitter = new SseSplitter()
  readonly #events = new RepeatedJson(repeatedDeltas)
  /** Keyed by the index of the content block. */
  readonly #openCalls = new Map<number, OpenCall>()
  readonly #thinking = new ThinkingWriter(() => this.#chunks)
  readonly #content = new StreamedContent()
  readonly #annotations = new IndexedAnnotations()
  #calls = 0
  #isOpen = false
  #id: string | undefined
  #writer: ChunkWriter | undefined
  #usage: Readonly<Record<string, unknown>> | undefined
  #stopReason: string | undefined
  #explanation: string | undefined
  #container: object | undefined

  constructor(context: AnswerContext) {
    this.#context = context
  }

  push(bytes: Uint8Array): Frame[] {
    return flatMapFrames(this.#splitter.push(bytes), (raw) => this.#read(raw))
  }

  end(): Frame[] {
    // The last event may lack its blank line, or may be torn.
    const rest = flatMapFrames(this.#splitter.end(), (raw) => this.#read(raw)).filter(
      ({ failure }) => failure?.kind !== 'malformed',
    )
    // Some compatible servers close after the stop reason. Without one, a stream that lacks
    // `message_stop` has broken off.
    const isOver = rest.some(({ kind }) => kind === 'done' || kind === 'error')
    return isOver || this.#stopReason === undefined ? rest : [...rest, ...this.#finish()]
  }

  #read({ data, event: name }: RawEvent): Frame[] {
    // Comments have no data. Some compatible servers end with the terminator of the OpenAI API.
    if (data === undefined || data === '' || data === '[DONE]') return []
    const event = this.#events.parse(data)
    if (event) return this.#translate(event.type ?? name, event, data)
    const failed = this.#findError(name, data)
    return failed.length > 0 ? failed : [malformed('an event of the stream cannot be read')]
  }

  #translate(type: string | undefined, event: StreamEvent, json: string): Frame[] {
    const { index, message, content_block, delta, usage } = event
    switch (type) {
      case 'message_start':
        return this.#start(message, json)
      case 'content_block_start': {
        const readStart = () => extractTexts(json, 'content_block').get('content_block') ?? '{}'
        return content_block ? this.#openBlock(index, content_block, readStart) : []
      }
      case 'content_block_delta':
        return delta ? this.#continueBlock(index, delta, json) : []
      case 'content_block_stop':
        return this.#closeBlock(index)
      case 'message_delta':
        this.#stopReason = delta?.stop_reason ?? this.#stopReason
        this.#explanation = delta?.stop_details?.explanation ?? this.#explanation
        this.#container = delta?.container ?? this.#container
        this.#usage = addCounters(this.#usage, usage)
        return []
      case 'message_stop':
        return this.#finish()
      default:
        // A ping, an error, or an event that is newer than this code.
        return this.#findError(type, json)
    }
  }

  #findError(type: string | undefined, json: string): Frame[] {
    const event = tryParseJson(json)
    if (!isObject(event)) return []
    const { type: own, message, usage } = event
    const failure = findEventError(event, typeof own === 'string' ? own : type)
    if (!failure) return []
    const begun = addStartCounters(this.#usage, isObject(message) ? message['usage'] : undefined)
    const counters = addCounters(begun, usage)
    return [createFailedFrame(failure, parseUsage(counters, this.#container))]
  }

  /**
   * Records the counters of the prompt. Some proxies repeat the start of a message, or splice a second
   * message into the stream.
   */
  #start(message: StreamEvent['message'], json: string): Frame[] {
    const { id, content = [], usage } = message ?? {}
    const isRepeated = this.#isOpen && id === this.#id
    if (this.#isOpen && !isRepeated) return [malformed('a second message has started')]
    this.#usage = addStartCounters(this.#usage, usage)
    this.#container = message?.container ?? this.#container
    const reported = parseUsage(this.#usage, this.#container)
    const counted: Frame = { bytes: noBytes, kind: 'quiet', usage: reported, outputBytes: 0 }
    if (isRepeated) return [counted]
    this.#isOpen = true
    this.#id = id
    // Read once, when the first block needs it.
    let texts: ReadonlyMap<number, string> | undefined
    const blocks = content.flatMap((block, index) => {
      const readStart = () => {
        texts ??= extractItems(json, 'message.content.*')
        return texts.get(index) ?? '{}'
      }
      return [...this.#openBlock(index, block, readStart), ...this.#closeBlock(index)]
    })
    return [counted, ...blocks]
  }

  #openBlock(block: number, start: ContentBlock, readStart: () => string): Frame[] {
    this.#content.open(block, start, readStart)
    switch (start.type) {
      case 'thinking':
      case 'redacted_thinking':
        this.#thinking.add(block, start)
        return [
          ...this.#thinking.takeEnded(),
          ...(start.thinking ? [this.#chunks.reasoning(start.thinking)] : []),
        ]
      case 'text':
        return [...this.#thinking.flush(), ...(start.text ? [this.#chunks.text(start.text)] : [])]
      case 'tool_use': {
        const index = this.#calls++
        this.#openCalls.set(block, { index, readStart, hasArguments: false })
        const call = {
          index,
          id: start.id || newCallId(),
          name: this.#context.names.restore(start.name ?? ''),
        }
        return [...this.#thinking.flush(), this.#chunks.toolCall(call)]
      }
      default:
        return this.#thinking.flush()
    }
  }

  #continueBlock(block: number, delta: Delta, json: string): Frame[] {
    this.#content.add(block, delta, json)
    switch (delta.type) {
      case 'text_delta':
        // Some compatible servers send no `content_block_start`.
        return delta.text ? [...this.#thinking.flush(), this.#chunks.text(delta.text)] : []
      case 'thinking_delta':
        if (!delta.thinking) return []
        this.#thinking.add(block, { thinking: delta.thinking })
        return [this.#chunks.reasoning(delta.thinking)]
      case 'signature_delta':
        this.#thinking.add(block, { signature: delta.signature ?? '' })
        return []
      case 'input_json_delta': {
        // Tools that run at the vendor have arguments too, but are not calls for the client.
        const call = this.#openCalls.get(block)
        if (!call || !delta.partial_json) return []
        call.hasArguments = true
        return [this.#chunks.toolArguments(call.index, delta.partial_json)]
      }
      default:
        return []
    }
  }

  /** Emits the arguments from the start of the block for a call that got no fragments, or citations. */
  #closeBlock(block: number): Frame[] {
    const annotations = this.#content.close(block)
    if (annotations.length > 0) {
      return [this.#chunks.delta({ annotations: this.#annotations.add(annotations) })]
    }
    const call = this.#openCalls.get(block)
    this.#openCalls.delete(block)
    if (!call || call.hasArguments) return []
    return [this.#chunks.toolArguments(call.index, extractInput(call.readStart()))]
  }

  /** A stream that ends before anything has begun has broken off, whatever its last event says. */
  #finish(): Frame[] {
    if (!this.#writer && this.#stopReason === undefined) {
      return [createFailedFrame({ kind: 'closed-early' }, parseUsage(this.#usage, this.#container))]
    }
    const calls = [...this.#openCalls.keys()].flatMap((block) => this.#closeBlock(block))
    const thinking = this.#thinking.flush()
    const explanation = this.#stopReason === 'refusal' ? this.#explanation : undefined
    const content = this.#content.finish()
    return [
      ...calls,
      ...thinking,
      ...(explanation ? [this.#chunks.refusal(explanation)] : []),
      ...(content ? [this.#chunks.providerContent(content)] : []),
      ...this.#chunks.finish(
        mapFinishReason(this.#stopReason, this.#calls > 0),
        parseUsage(this.#usage, this.#container),
        this.#container && { container: this.#container },
      ),
    ]
  }

  /** Created with the first content, when `message_start` has given the message's id, if any. */
  get #chunks(): ChunkWriter {
    const { modelId: model, created } = this.#context
    this.#writer ??= new ChunkWriter({ id: this.#id || newCompletionId(), created, model })
    return this.#writer
  }
}

function malformed(detail: string): Frame {
  return createFailedFrame({ kind: 'malformed', detail })
}

function extractInput(block: string): string {
  return normalizeArguments(extractTexts(block, 'input').get('input'))
}
