import { failureOf } from '../../core/failure.ts'
import type { Frame, FrameDecoder, StreamIdentity } from '../../core/frame.ts'
import { newCallId } from '../../core/ids.ts'
import { ChunkWriter, failedFrame } from '../../stream/chunk-writer.ts'
import { AwsEventStream, type AwsMessage } from '../../wire/aws-event-stream.ts'
import { tryParseJson } from '../../wire/json.ts'
import { ThinkingRuns } from '../claude/thinking-blocks.ts'
import { streamFailure } from './errors.ts'
import { type Delta, event, eventTypes, type ReasoningDelta, type ToolUse } from './events.ts'
import { finishReasonOf } from './finish-reason.ts'
import { converseUsage } from './usage.ts'

export interface StreamContext {
  readonly identity: StreamIdentity
  /** Hides the credential in an error's text. */
  readonly mask: (text: string) => string
}

/** Reads the events of ConverseStream as chunks of a chat completion. */
export class ConverseStream implements FrameDecoder {
  readonly #splitter = new AwsEventStream()
  readonly #writer: ChunkWriter
  readonly #mask: (text: string) => string
  /** By the index of their content block, which counts texts too. */
  readonly #calls = new Map<number, OpenCall>()
  readonly #thinking = new ThinkingRuns()
  /** The answer is complete, except perhaps for its usage. */
  #stop: { readonly reason: string } | undefined
  /** AWS sends it last, and proxies earlier. */
  #metadata: { readonly usage: unknown } | undefined

  constructor({ identity, mask }: StreamContext) {
    this.#writer = new ChunkWriter(identity)
    this.#mask = mask
  }

  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = []
    try {
      for (const message of this.#splitter.push(bytes)) frames.push(...this.#read(message))
    } catch (error) {
      // What came before the broken message was whole, and goes out.
      frames.push(failedFrame(failureOf(error)))
    }
    return frames
  }

  /** A body that ends without its usage is complete; one that ends within a message is not. */
  end(): Frame[] {
    return this.#stop && this.#splitter.isBetweenMessages ? this.#finish(this.#stop.reason) : []
  }

  #read(message: AwsMessage): Frame[] {
    switch (message.headers.get(':message-type')) {
      case 'event':
        return this.#readEvent(message)
      case 'exception':
      case 'error':
        return [failedFrame(streamFailure(message, this.#mask))]
      default:
        return []
    }
  }

  #readEvent({ headers, payload }: AwsMessage): Frame[] {
    const type = eventTypes.find((known) => known === headers.get(':event-type'))
    // The start of the message says nothing yet, and AWS may think of more events.
    if (type === undefined) return []
    const parsed = event.safeParse(tryParseJson(payload))
    if (!parsed.success) {
      return [
        failedFrame({ kind: 'malformed', detail: 'an event of the stream is none of Converse' }),
      ]
    }
    const { contentBlockIndex: block = 0, start, delta, stopReason, usage } = parsed.data
    switch (type) {
      case 'contentBlockStart':
        return start?.toolUse ? this.#openCall(block, start.toolUse) : []
      case 'contentBlockDelta':
        return delta ? this.#readDelta(block, delta) : []
      case 'contentBlockStop':
        return this.#closeBlock(block)
      case 'messageStop':
        this.#stop = { reason: stopReason ?? '' }
        return this.#metadata ? this.#finish(this.#stop.reason) : []
      case 'metadata':
        this.#metadata = { usage }
        return this.#stop ? this.#finish(this.#stop.reason) : []
      default:
        return type satisfies never
    }
  }

  #openCall(block: number, { toolUseId, name }: ToolUse): Frame[] {
    const index = this.#calls.size
    this.#calls.set(block, { index, hasArguments: false })
    return [...this.#proofs(), this.#writer.toolCall({ index, id: toolUseId || newCallId(), name })]
  }

  /** Texts and reasoning open with their first delta. */
  #readDelta(block: number, { text, toolUse, reasoningContent }: Delta): Frame[] {
    if (text) return [...this.#proofs(), this.#writer.text(text)]
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
    return text ? [this.#writer.reasoning(text)] : []
  }

  /** The reasoning that is complete, since what follows is none. */
  #proofs(): Frame[] {
    const run = this.#thinking.interrupt()
    return run.length === 0 ? [] : [this.#writer.thinking(run)]
  }

  /** A call without arguments has sent none, but is a call with an empty object. */
  #closeBlock(block: number): Frame[] {
    const call = this.#calls.get(block)
    if (!call || call.hasArguments) return []
    call.hasArguments = true
    return [this.#writer.toolArguments(call.index, '{}')]
  }

  #finish(stopReason: string): Frame[] {
    const run = this.#thinking.finish()
    const reason = finishReasonOf(stopReason, this.#calls.size > 0)
    return [
      ...(run.length > 0 ? [this.#writer.thinking(run)] : []),
      ...this.#writer.finish(reason, converseUsage(this.#metadata?.usage)),
    ]
  }
}

/** A tool call that is being streamed. */
interface OpenCall {
  /** Its position among the calls of the message. */
  readonly index: number
  hasArguments: boolean
}
