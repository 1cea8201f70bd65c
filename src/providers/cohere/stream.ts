import * as z from 'zod'
import type { UpstreamFailure } from '../../core/failure.ts'
import type { Frame, FrameDecoder } from '../../core/frame.ts'
import { newCallId, newCompletionId } from '../../core/ids.ts'
import { ChunkWriter, failedFrame } from '../../stream/chunk-writer.ts'
import { framesOf } from '../../stream/frames-of.ts'
import { isObject, tryParseJson } from '../../wire/json.ts'
import { SseSplitter } from '../../wire/sse.ts'
import { addIndexes } from '../canonical/completion.ts'
import { extractMessage } from '../shared/error-message.ts'
import { toVendorError } from '../shared/vendor-error.ts'
import { type AnswerContext, toOpenAiLogprobs, toolCallSchema } from './answer.ts'
import { citationSchema, toAnnotations } from './citations.ts'
import { mapFailureStatus, mapFinishReason } from './finish-reason.ts'
import { parseUsage } from './usage.ts'

/** Reads an event stream of `POST /v2/chat`. Nothing but its `message-end` is an end. */
export function cohereFrames(context: AnswerContext): FrameDecoder {
  const splitter = new SseSplitter()
  const events = new EventReader(context)
  return {
    push: (bytes) => framesOf(splitter.push(bytes), ({ data = '' }) => events.read(data)),
    // What is no JSON here was cut off, and the missing end tells of that.
    end: () =>
      splitter.end().flatMap(({ data = '' }) => (tryParseJson(data) ? events.read(data) : [])),
  }
}

const text = z.string().nullish()
/** The number of a content block or call in the vendor's stream: no choice of ours. */
const number = z.number().nullish()

function inMessage<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object({ message: z.object(shape).nullish() }).nullish()
}

// The type stands in the data as well as in the `event:` line; only the data counts.
const event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message-start'), id: text }),
  z.object({
    type: z.literal(['content-start', 'content-delta']),
    index: number,
    delta: inMessage({ content: z.object({ text, thinking: text }).nullish() }),
    logprobs: z.unknown().optional(),
  }),
  z.object({
    type: z.literal('tool-plan-delta'),
    delta: inMessage({ tool_plan: text }),
  }),
  z.object({
    type: z.literal(['tool-call-start', 'tool-call-delta']),
    index: number,
    // Named like a list, yet one object.
    delta: inMessage({ tool_calls: z.union([z.array(toolCallSchema), toolCallSchema]).nullish() }),
  }),
  z.object({ type: z.literal('tool-call-end'), index: number }),
  z.object({
    type: z.literal('citation-start'),
    // Named like a list, yet one object.
    delta: inMessage({ citations: citationSchema.nullish().catch(undefined) }),
  }),
  z.object({
    type: z.literal('message-end'),
    delta: z
      .object({
        finish_reason: text,
        error: z.unknown().optional(),
        usage: z.unknown().optional(),
      })
      .nullish(),
  }),
])

type EventOf<Type> = Extract<z.infer<typeof event>, { type: Type }>

const knownTypes: ReadonlySet<unknown> = new Set(
  event.options.flatMap(({ shape }) => [...shape.type.values]),
)

/** A call whose arguments are being told. */
interface OpenCall {
  readonly vendorIndex: number | undefined
  /** Its place among the calls of the message. */
  readonly index: number
  /** The beginning of the arguments while it may still become `null`; then undefined. */
  held: string | undefined
}

class EventReader {
  readonly #context: AnswerContext
  #id: string | undefined
  #writer: ChunkWriter | undefined
  readonly #calls: OpenCall[] = []
  /** Where each block begins in the text so far, and how long that is, in characters. */
  readonly #blockStarts: number[] = []
  #length = 0
  #annotationCount = 0
  /** What the reasoning so far was: plans follow thoughts on a line of their own. */
  #reasoning: 'none' | 'thoughts' | 'plan' = 'none'

  constructor(context: AnswerContext) {
    this.#context = context
  }

  read(data: string): Frame[] {
    // Comments have no data, and some deployments add `[DONE]` after the end.
    if (data === '' || data.startsWith('[DONE]')) return []
    const value = tryParseJson(data)
    const told = event.safeParse(value)
    if (!told.success) return isOfUnknownType(value) ? [] : [failedFrame(malformed)]
    return this.#translate(told.data)
  }

  #translate(told: z.infer<typeof event>): Frame[] {
    switch (told.type) {
      case 'message-start':
        this.#id = told.id ?? undefined
        return []
      case 'content-start':
      case 'content-delta':
        return this.#writeContent(told)
      case 'tool-plan-delta':
        return this.#writePlan(told.delta?.message?.tool_plan ?? '')
      case 'tool-call-start':
        return this.#startCall(told)
      case 'tool-call-delta':
        return this.#addArguments(
          this.#callAt(told.index),
          callInEvent(told)?.function?.arguments ?? '',
        )
      case 'tool-call-end':
        return this.#endCall(this.#callAt(told.index))
      case 'citation-start':
        return this.#writeCitation(told)
      case 'message-end':
        return this.#finish(told)
      default:
        return told satisfies never
    }
  }

  get #out(): ChunkWriter {
    this.#writer ??= this.#newWriter()
    return this.#writer
  }

  #newWriter(): ChunkWriter {
    const { created, model } = this.#context
    const id = this.#id || newCompletionId()
    return new ChunkWriter({ id, created, model })
  }

  #writeContent({ index, delta, logprobs }: EventOf<'content-start' | 'content-delta'>): Frame[] {
    const { text: said, thinking } = delta?.message?.content ?? {}
    const frames: Frame[] = []
    if (thinking) {
      this.#reasoning = 'thoughts'
      frames.push(this.#out.reasoning(thinking))
    }
    this.#blockStarts[index ?? 0] ??= this.#length
    if (said) {
      this.#length += [...said].length
      const asked = this.#context.wantsLogprobs
      frames.push(this.#out.text(said, asked ? toOpenAiLogprobs([logprobs]) : undefined))
    }
    return frames
  }

  #writePlan(piece: string): Frame[] {
    if (piece === '') return []
    const separator = this.#reasoning === 'thoughts' ? '\n' : ''
    this.#reasoning = 'plan'
    return [this.#out.reasoning(`${separator}${piece}`)]
  }

  #writeCitation({ delta }: EventOf<'citation-start'>): Frame[] {
    const citation = delta?.message?.citations
    const annotations = citation ? toAnnotations(citation, this.#blockStarts) : []
    if (annotations.length === 0) return []
    const from = this.#annotationCount
    this.#annotationCount += annotations.length
    return [this.#out.delta({ annotations: addIndexes(annotations, from) })]
  }

  #startCall(told: EventOf<'tool-call-start' | 'tool-call-delta'>): Frame[] {
    const started = callInEvent(told)
    const index = this.#calls.length
    const call: OpenCall = { vendorIndex: told.index ?? undefined, index, held: '' }
    this.#calls.push(call)
    const id = started?.id || newCallId()
    const name = started?.function?.name ?? ''
    const opened = this.#out.toolCall({ index, id, name })
    return [opened, ...this.#addArguments(call, started?.function?.arguments ?? '')]
  }

  /** The call that a further event belongs to. Where only one is made, its number may be missing. */
  #callAt(index: number | null | undefined): OpenCall | undefined {
    return (
      this.#calls.findLast(({ vendorIndex: theirIndex }) => theirIndex === index) ??
      this.#calls.at(-1)
    )
  }

  #addArguments(call: OpenCall | undefined, piece: string): Frame[] {
    if (!call || piece === '') return []
    const soFar = `${call.held ?? ''}${piece}`
    if (call.held !== undefined && 'null'.startsWith(soFar)) {
      call.held = soFar
      return []
    }
    call.held = undefined
    return [this.#out.toolArguments(call.index, soFar)]
  }

  /** No arguments, or `null`: the function takes none, and clients expect an object. */
  #endCall(call: OpenCall | undefined): Frame[] {
    if (call?.held === undefined) return []
    const { held, index } = call
    call.held = undefined
    return [this.#out.toolArguments(index, held === '' || held === 'null' ? '{}' : held)]
  }

  #finish({ delta }: EventOf<'message-end'>): Frame[] {
    const { finish_reason: reason, error, usage } = delta ?? {}
    if (error || mapFailureStatus(reason) !== undefined) {
      const message = error ? extractMessage(error) : `the answer ended in ${reason}`
      const vendor = { code: reason ?? undefined, ...(error ? toVendorError(error) : {}) }
      return [failedFrame({ kind: 'error-frame', message, vendor }, parseUsage(usage))]
    }
    const lastArguments = this.#calls.flatMap((call) => this.#endCall(call))
    const finish = mapFinishReason(reason, this.#calls.length > 0)
    return [...lastArguments, ...this.#out.finish(finish, parseUsage(usage))]
  }
}

function callInEvent({ delta }: EventOf<'tool-call-start' | 'tool-call-delta'>) {
  const calls = delta?.message?.tool_calls
  return Array.isArray(calls) ? calls[0] : calls
}

/** An event of a type that is not known here: the vendor adds some from time to time. */
function isOfUnknownType(value: unknown): boolean {
  return isObject(value) && !knownTypes.has(value['type'])
}

const malformed: UpstreamFailure = {
  kind: 'malformed',
  detail: 'an event of the stream cannot be read',
}
