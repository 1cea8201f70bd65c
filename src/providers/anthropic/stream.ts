import type { Frame, FrameDecoder } from '../../core/frame.ts'
import { newCallId, newCompletionId } from '../../core/ids.ts'
import { ChunkWriter, failedFrame, noBytes } from '../../stream/chunk-writer.ts'
import { framesOf } from '../../stream/frames-of.ts'
import { isObject, tryParseJson } from '../../wire/json.ts'
import { extractTexts } from '../../wire/json-text.ts'
import { type RawEvent, SseSplitter } from '../../wire/sse.ts'
import { normalizeArguments } from '../canonical/completion.ts'
import { ThinkingRuns } from '../claude/thinking-blocks.ts'
import type { ContentBlock } from './answer.ts'
import { errorIn } from './errors.ts'
import { type Delta, type StreamEvent, streamEvent } from './events.ts'
import { finishReasonOf } from './finish-reason.ts'
import { readAnthropicUsage } from './usage.ts'

/** A call whose arguments are still coming. */
interface OpenCall {
  /** Its position among the calls: blocks of other types do not count. */
  readonly index: number
  /** The arguments that stand in the start of the block, for a call that gets no fragments. */
  readonly given: () => string
  hasArguments: boolean
}

export interface StreamContext {
  readonly modelId: string
  /** Unix seconds. */
  readonly created: number
}

/** Translates the events of one streamed message into chunks, each as soon as it comes. */
export class AnthropicFrames implements FrameDecoder {
  readonly #context: StreamContext
  readonly #splitter = new SseSplitter()
  /** By the index of the content block. */
  readonly #openCalls = new Map<number, OpenCall>()
  readonly #thinking = new ThinkingRuns()
  #calls = 0
  #isOpen = false
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
    const { data: event } = streamEvent.safeParse(tryParseJson(data))
    if (event) return this.#translate(event.type ?? name, event, data)
    return [malformed('an event of the stream cannot be read')]
  }

  #translate(type: string | undefined, event: StreamEvent, json: string): Frame[] {
    const { index, message, content_block, delta, usage, error } = event
    switch (type) {
      case 'message_start':
        return this.#start(message, json)
      case 'content_block_start': {
        const given = () => writtenInput(json, 'content_block.input')
        return content_block ? this.#openBlock(index, content_block, given) : []
      }
      case 'content_block_delta':
        return delta ? this.#continueBlock(index, delta) : []
      case 'content_block_stop':
        return this.#closeBlock(index)
      case 'message_delta':
        this.#stopReason = delta?.stop_reason ?? this.#stopReason
        this.#explanation = delta?.stop_details?.explanation ?? this.#explanation
        this.#count(usage)
        return []
      case 'message_stop':
        return this.#finish()
      case 'error':
        return [failedFrame(errorIn(error), readAnthropicUsage(this.#usage))]
      default:
        // A ping, or whatever the vendor may think of next.
        return []
    }
  }

  /**
   * Notes the counters of the prompt; those of the output have only begun, and say nothing of the
   * answer. Proxies have been seen to splice a second message into the stream of the first.
   */
  #start(message: StreamEvent['message'], json: string): Frame[] {
    const { id, content = [], usage } = message ?? {}
    const isRepeated = this.#isOpen && id === this.#id
    if (this.#isOpen && !isRepeated) return [malformed('a second message has started')]
    this.#count(isObject(usage) ? { ...usage, output_tokens: null } : usage)
    const reported = readAnthropicUsage(this.#usage)
    const counted: Frame = { bytes: noBytes, kind: 'quiet', usage: reported, outputBytes: 0 }
    if (isRepeated) return [counted]
    this.#isOpen = true
    this.#id = id
    const begun = content.flatMap((block, index) => {
      const given = () => writtenInput(json, 'message.content.*.input', index)
      return [...this.#openBlock(index, block, given), ...this.#closeBlock(index)]
    })
    return [counted, ...begun]
  }

  #openBlock(block: number, start: ContentBlock, given: () => string): Frame[] {
    switch (start.type) {
      case 'thinking':
      case 'redacted_thinking':
        this.#thinking.add(block, start)
        return start.thinking ? [this.#chunks.reasoning(start.thinking)] : []
      case 'text':
        return [...this.#proofs(), ...(start.text ? [this.#chunks.text(start.text)] : [])]
      case 'tool_use': {
        const index = this.#calls++
        this.#openCalls.set(block, { index, given, hasArguments: false })
        const call = { index, id: start.id || newCallId(), name: start.name ?? '' }
        return [...this.#proofs(), this.#chunks.toolCall(call)]
      }
      default:
        return this.#proofs()
    }
  }

  #continueBlock(block: number, delta: Delta): Frame[] {
    switch (delta.type) {
      case 'text_delta':
        // Some compatible servers open no blocks.
        return delta.text ? [...this.#proofs(), this.#chunks.text(delta.text)] : []
      case 'thinking_delta':
        if (!delta.thinking) return []
        this.#thinking.add(block, { thinking: delta.thinking })
        return [this.#chunks.reasoning(delta.thinking)]
      case 'signature_delta':
        this.#thinking.add(block, { signature: delta.signature ?? '' })
        return []
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

  /** The thinking that is complete, since what follows is none. */
  #proofs(): Frame[] {
    const run = this.#thinking.interrupt()
    return run.length === 0 ? [] : [this.#chunks.thinking(run)]
  }

  /** A call without fragments has the arguments that its block opened with. */
  #closeBlock(block: number): Frame[] {
    const call = this.#openCalls.get(block)
    this.#openCalls.delete(block)
    if (!call || call.hasArguments) return []
    return [this.#chunks.toolArguments(call.index, call.given())]
  }

  #finish(): Frame[] {
    const calls = [...this.#openCalls.keys()].flatMap((block) => this.#closeBlock(block))
    const run = this.#thinking.finish()
    const explanation = this.#stopReason === 'refusal' ? this.#explanation : undefined
    return [
      ...calls,
      ...(run.length > 0 ? [this.#chunks.thinking(run)] : []),
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
    const given = Object.entries(usage).filter(([, count]) => count !== null)
    // The runs of an earlier event do not add up to the counters of a later one.
    this.#usage = { ...this.#usage, iterations: undefined, ...Object.fromEntries(given) }
  }

  /** Made with the first content, when the message has told its id if it has one. */
  get #chunks(): ChunkWriter {
    const { modelId: model, created } = this.#context
    this.#writer ??= new ChunkWriter({ id: this.#id || newCompletionId(), created, model })
    return this.#writer
  }
}

function malformed(detail: string): Frame {
  return failedFrame({ kind: 'malformed', detail })
}

/** The arguments in the start of a block, or of one block of several. */
function writtenInput(json: string, pattern: string, index = 0): string {
  return normalizeArguments(extractTexts(json, pattern).get(pattern.replace('*', String(index))))
}
