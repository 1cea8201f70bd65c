import { toFailure } from '../../core/failure.ts'
import type { Frame, FrameDecoder } from '../../core/frame.ts'
import { newCallId } from '../../core/ids.ts'
import { ChunkWriter, createFailedFrame } from '../../stream/chunk-writer.ts'
import { AwsEventStream, type AwsMessage } from '../../wire/aws-event-stream.ts'
import { RepeatedJson } from '../../wire/json/repeated.ts'
import type { ToolNames } from '../../wire/tool-names.ts'
import { IndexedAnnotations } from '../canonical/annotations.ts'
import { ThinkingWriter } from '../claude/thinking-writer.ts'
import type { AnswerContext } from './answer.ts'
import { isServerCall } from './content.ts'
import { parseStreamFailure } from './errors.ts'
import {
  type BlockStart,
  type Delta,
  eventTypes,
  type ReasoningDelta,
  repeatedDeltas,
  type StreamEvent,
  type ToolUse,
} from './events.ts'
import { findFailedStop, mapFinishReason } from './finish-reason.ts'
import { StreamedContent } from './stream-content.ts'
import { parseUsage } from './usage.ts'

export interface StreamContext extends AnswerContext {
  /** Masks the credential in the text of an error. */
  readonly mask: (text: string) => string
}

/** Translates the events of ConverseStream into chunks, each as soon as it arrives. */
export class ConverseStream implements FrameDecoder {
  readonly #splitter = new AwsEventStream()
  readonly #events = new RepeatedJson(repeatedDeltas)
  readonly #writer: ChunkWriter
  readonly #mask: (text: string) => string
  readonly #names: ToolNames
  /** Keyed by the index of the content block, which counts blocks of every type. */
  readonly #calls = new Map<number, OpenCall>()
  readonly #thinking = new ThinkingWriter(() => this.#writer)
  readonly #content = new StreamedContent()
  readonly #annotations = new IndexedAnnotations()
  /** Set when the answer is complete, except perhaps for its usage. */
  #stop: { readonly reason: string } | undefined
  /** AWS sends it last; some proxies send it before the stop reason. */
  #metadata: Pick<StreamEvent, 'usage' | 'trace' | 'serviceTier'> | undefined

  constructor({ identity, mask, names }: StreamContext) {
    this.#writer = new ChunkWriter(identity)
    this.#mask = mask
    this.#names = names
  }

  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = []
    try {
      for (const message of this.#splitter.push(bytes)) frames.push(...this.#read(message))
    } catch (error) {
      // The messages before the broken one were intact, so their frames go out.
      frames.push(createFailedFrame(toFailure(error)))
    }
    return frames
  }

  /** A body may end without its usage, but not within a message. */
  end(): Frame[] {
    return this.#stop && this.#splitter.isBetweenMessages ? this.#finish(this.#stop.reason) : []
  }

  #read(message: AwsMessage): Frame[] {
    switch (message.headers.get(':message-type')) {
      case 'event':
        return this.#readEvent(message)
      case 'exception':
      case 'error':
        return [createFailedFrame(parseStreamFailure(message, this.#mask))]
      default:
        return []
    }
  }

  #readEvent({ headers, payload }: AwsMessage): Frame[] {
    const type = eventTypes.find((known) => known === headers.get(':event-type'))
    // `messageStart`, or an event that is newer than this code.
    if (type === undefined) return []
    const json = decoder.decode(payload)
    const event = this.#events.parse(json)
    if (!event) {
      const detail = 'an event of the stream is not a ConverseStream event'
      return [createFailedFrame({ kind: 'malformed', detail })]
    }
    const { contentBlockIndex: block = 0, start, delta, stopReason } = event
    const { usage, trace, serviceTier } = event
    switch (type) {
      case 'contentBlockStart':
        return start ? this.#openBlock(block, start) : []
      case 'contentBlockDelta':
        return delta ? this.#readDelta(block, delta, json) : []
      case 'contentBlockStop':
        return this.#closeBlock(block)
      case 'messageStop':
        this.#stop = { reason: stopReason ?? '' }
        return this.#metadata ? this.#finish(this.#stop.reason) : []
      case 'metadata':
        this.#metadata = { usage, trace, serviceTier }
        return this.#stop ? this.#finish(this.#stop.reason) : []
      default:
        return type satisfies never
    }
  }

  #openBlock(block: number, start: BlockStart): Frame[] {
    this.#content.open(block, start)
    const { toolUse } = start
    return toolUse && !isServerCall(toolUse)
      ? this.#openCall(block, toolUse)
      : this.#thinking.flush()
  }

  #openCall(block: number, { toolUseId, name }: ToolUse): Frame[] {
    const index = this.#calls.size
    this.#calls.set(block, { index, hasArguments: false })
    return [
      ...this.#thinking.flush(),
      this.#writer.toolCall({
        index,
        id: toolUseId || newCallId(),
        name: this.#names.restore(name),
      }),
    ]
  }

  /** Texts and reasoning have no start event: they begin with their first delta. */
  #readDelta(block: number, delta: Delta, json: string): Frame[] {
    const { text, toolUse, reasoningContent } = delta
    this.#content.add(block, delta, json)
    if (text) return [...this.#thinking.flush(), this.#writer.text(text)]
    if (reasoningContent) return this.#think(block, reasoningContent)
    const call = this.#calls.get(block)
    if (!call || !toolUse?.input) return []
    call.hasArguments = true
    return [this.#writer.toolArguments(call.index, toolUse.input)]
  }

  #think(block: number, { text, signature, redactedContent: data }: ReasoningDelta): Frame[] {
    if (text) this.#thinking.add(block, { thinking: text })
    if (signature) this.#thinking.add(block, { thinking: '', signature })
    if (data) this.#thinking.add(block, { data })
    const ended = this.#thinking.takeEnded()
    return text ? [...ended, this.#writer.reasoning(text)] : ended
  }

  /** Emits the sources of a text. A call without arguments has no delta: its empty object is written here. */
  #closeBlock(block: number): Frame[] {
    const annotations = this.#content.close(block)
    if (annotations.length > 0) {
      return [this.#writer.delta({ annotations: this.#annotations.add(annotations) })]
    }
    const call = this.#calls.get(block)
    if (!call || call.hasArguments) return []
    call.hasArguments = true
    return [this.#writer.toolArguments(call.index, '{}')]
  }

  #finish(stopReason: string): Frame[] {
    const failed = findFailedStop(stopReason)
    if (failed) {
      const { usage, serviceTier } = this.#metadata ?? {}
      return [{ ...createFailedFrame(failed, parseUsage(usage, serviceTier)), isBilled: true }]
    }
    if (stopReason === '' && !this.#writer.hasStarted) {
      const { usage, serviceTier } = this.#metadata ?? {}
      return [createFailedFrame({ kind: 'closed-early' }, parseUsage(usage, serviceTier))]
    }
    const ended = this.#thinking.flush()
    const content = this.#content.finish()
    if (content) ended.push(this.#writer.providerContent(content))
    const reason = mapFinishReason(stopReason, this.#calls.size > 0)
    const { usage, trace, serviceTier } = this.#metadata ?? {}
    const extra = trace ? { trace } : undefined
    return [...ended, ...this.#writer.finish(reason, parseUsage(usage, serviceTier), extra)]
  }
}

const decoder = new TextDecoder()

/** A call whose arguments have begun or may begin. */
interface OpenCall {
  /** Its position among the calls of the message. */
  readonly index: number
  hasArguments: boolean
}
