import { z } from 'zod'
import type { Frame, FrameDecoder } from '../../../core/frame.ts'
import { newCompletionId } from '../../../core/ids.ts'
import { ChunkWriter, failedFrame } from '../../../stream/chunk-writer.ts'
import { framesOf } from '../../../stream/frames-of.ts'
import { jsonIn } from '../../../wire/json.ts'
import { type RawEvent, SseSplitter } from '../../../wire/sse.ts'
import { isObject } from '../openai/usage.ts'
import {
  contentBlock,
  errorIn,
  finishReasonOf,
  optionalText,
  readAnthropicUsage,
  stopDetails,
} from './answer.ts'

const blockDelta = z.object({
  type: optionalText,
  text: optionalText,
  thinking: optionalText,
  partial_json: optionalText,
  stop_reason: optionalText,
  stop_details: stopDetails,
})

/** Members of another shape than the known one read as absent: new events may use the same names. */
const streamEvent = z.object({
  /** The same as the name of the event. */
  type: optionalText,
  index: z.number().catch(0),
  message: z
    .object({ id: optionalText, usage: z.unknown().optional() })
    .optional()
    .catch(undefined),
  content_block: contentBlock.optional().catch(undefined),
  delta: blockDelta.optional().catch(undefined),
  usage: z.unknown().optional(),
  error: z.unknown().optional(),
})

type StreamEvent = z.infer<typeof streamEvent>
type ContentBlock = z.infer<typeof contentBlock>
type Delta = z.infer<typeof blockDelta>

/** A call whose arguments are still coming. */
interface OpenCall {
  /** Its position among the calls: blocks of other types do not count. */
  readonly index: number
  /** The arguments as the start of the block tells them, for a call that gets no fragments. */
  readonly input: unknown
  hasArguments: boolean
}

export interface StreamContext {
  readonly modelId: string
  /** Unix seconds. */
  readonly created: number
  /** The client asked for a usage chunk. */
  readonly asked: boolean
}

/** Translates the events of one streamed message into chunks, each as soon as it comes. */
export class AnthropicFrames implements FrameDecoder {
  readonly #context: StreamContext
  readonly #splitter = new SseSplitter()
  /** By the index of the content block. */
  readonly #openCalls = new Map<number, OpenCall>()
  #calls = 0
  #id: string | undefined
  #writer: ChunkWriter | undefined
  #usage: Record<string, unknown> | undefined
  #stopReason: string | undefined
  #explanation: string | undefined

  constructor(context: StreamContext) {
    this.#context = context
  }

  push(bytes: Uint8Array): Frame[] {
    return framesOf(this.#splitter.push(bytes), (raw) => this.#read(raw))
  }

  end(): Frame[] {
    // The last event may lack its blank line; it may also have been cut off in its middle.
    const rest = framesOf(this.#splitter.end(), (raw) => this.#read(raw)).filter(
      ({ failure }) => failure?.kind !== 'malformed',
    )
    // Some compatible servers close after the stop reason. Any other end without `message_stop`
    // is that of a stream which has died.
    const isOver = rest.some(({ kind }) => kind === 'done' || kind === 'error')
    return isOver || this.#stopReason === undefined ? rest : [...rest, ...this.#finish()]
  }

  #read({ data, event: name }: RawEvent): Frame[] {
    // Comments have no data, and `[DONE]` belongs to another API.
    if (data === undefined || data === '' || data === '[DONE]') return []
    const { data: event } = streamEvent.safeParse(jsonIn(data))
    if (event) return this.#translate(event.type ?? name, event)
    return [failedFrame({ kind: 'malformed', detail: 'an event of the stream cannot be read' })]
  }

  #translate(type: string | undefined, event: StreamEvent): Frame[] {
    const { index, message, content_block, delta, usage, error } = event
    switch (type) {
      case 'message_start':
        this.#id = message?.id
        this.#count(message?.usage)
        return []
      case 'content_block_start':
        return content_block ? this.#openBlock(index, content_block) : []
      case 'content_block_delta':
        return delta ? this.#continueBlock(index, delta) : []
      case 'content_block_stop':
        return this.#closeCall(index)
      case 'message_delta':
        this.#stopReason = delta?.stop_reason ?? this.#stopReason
        this.#explanation = delta?.stop_details?.explanation ?? this.#explanation
        this.#count(usage)
        return []
      case 'message_stop':
        return this.#finish()
      case 'error':
        return [failedFrame(errorIn(error))]
      default:
        // A ping, or whatever the vendor may think of next.
        return []
    }
  }

  #openBlock(block: number, start: ContentBlock): Frame[] {
    switch (start.type) {
      case 'text':
        return start.text ? [this.#chunks.text(start.text)] : []
      case 'thinking':
        return start.thinking ? [this.#chunks.reasoning(start.thinking)] : []
      case 'tool_use': {
        const { id, name, input } = start
        const index = this.#calls++
        this.#openCalls.set(block, { index, input, hasArguments: false })
        return [this.#chunks.toolCall({ index, id: id || `call_${index}`, name: name ?? '' })]
      }
      default:
        return []
    }
  }

  #continueBlock(block: number, delta: Delta): Frame[] {
    switch (delta.type) {
      case 'text_delta':
        return delta.text ? [this.#chunks.text(delta.text)] : []
      case 'thinking_delta':
        return delta.thinking ? [this.#chunks.reasoning(delta.thinking)] : []
      case 'input_json_delta': {
        // Tools that run at the vendor have arguments too, but are no calls for the client.
        const call = this.#openCalls.get(block)
        if (!call || !delta.partial_json) return []
        call.hasArguments = true
        return [this.#chunks.toolArguments(call.index, delta.partial_json)]
      }
      default:
        return []
    }
  }

  /** A call without fragments has no arguments, which clients expect as `{}`. */
  #closeCall(block: number): Frame[] {
    const call = this.#openCalls.get(block)
    this.#openCalls.delete(block)
    if (!call || call.hasArguments) return []
    return [this.#chunks.toolArguments(call.index, JSON.stringify(call.input ?? {}))]
  }

  #finish(): Frame[] {
    const calls = [...this.#openCalls.keys()].flatMap((block) => this.#closeCall(block))
    const explanation = this.#stopReason === 'refusal' ? this.#explanation : undefined
    return [
      ...calls,
      ...(explanation ? [this.#chunks.refusal(explanation)] : []),
      ...this.#chunks.finish(
        finishReasonOf(this.#stopReason, this.#calls > 0),
        readAnthropicUsage(this.#usage),
      ),
    ]
  }

  /** Counters are running totals: a later one replaces an earlier one. */
  #count(usage: unknown): void {
    if (!isObject(usage)) return
    const told = Object.entries(usage).filter(([, count]) => count !== null)
    this.#usage = { ...this.#usage, ...Object.fromEntries(told) }
  }

  /** Made with the first content, when the message has told its id if it has one. */
  get #chunks(): ChunkWriter {
    const { modelId: model, created, asked } = this.#context
    this.#writer ??= new ChunkWriter({ id: this.#id || newCompletionId(), created, model }, asked)
    return this.#writer
  }
}
