import * as z from 'zod'
import { getVendorError } from '../../core/failure.ts'
import { type Frame, type FrameDecoder, flatMapFrames } from '../../core/frame.ts'
import { newCallId, newCompletionId } from '../../core/ids.ts'
import { ChunkWriter, createFailedFrame } from '../../stream/chunk-writer.ts'
import { eventLimits, isObject, tryParseEvent } from '../../wire/json/parse.ts'
import { RepeatedJson, type RepeatedJsonOptions } from '../../wire/json/repeated.ts'
import { extractTexts } from '../../wire/json/text.ts'
import { SseSplitter } from '../../wire/sse.ts'
import { extractMessage } from '../base/error-message.ts'
import { isStatedError, toFrameFailure, toShapeFailure } from '../base/hidden-error.ts'
import { toVendorError } from '../base/vendor-error.ts'
import { countCharacters, IndexedAnnotations } from '../canonical/annotations.ts'
import { type AnswerContext, toOpenAiLogprobs, toolCallSchema } from './answer.ts'
import { citationSchema, toAnnotations } from './citations.ts'
import { mapFailureStatus, mapFinishReason } from './finish-reason.ts'
import { StreamedContent } from './stream-content.ts'
import { parseUsage } from './usage.ts'

/**
 * Creates the decoder for a stream of `POST /v2/chat`. Only `message-end` completes the stream.
 * https://docs.cohere.com/reference/chat-stream
 */
export function createCohereDecoder(context: AnswerContext): FrameDecoder {
  const splitter = new SseSplitter()
  const events = new EventReader(context)
  return {
    push: (bytes) => flatMapFrames(splitter.push(bytes), ({ data = '' }) => events.read(data)),
    // Data that is not JSON was cut off here. The missing `message-end` reports that.
    end: () =>
      splitter
        .end()
        .flatMap(({ data = '' }) => (tryParseEvent(data, eventLimits) ? events.read(data) : [])),
  }
}

const text = z.string().nullish()
/** The vendor's index of a content block or call, not the index of a choice. */
const number = z.number().nullish()

function inMessage<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object({ message: z.object(shape).nullish() }).nullish()
}

// Both the data and the `event:` line have the type; the decoder reads it from the data.
const eventSchema = z.discriminatedUnion('type', [
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
    // One object, in spite of the plural name.
    delta: inMessage({ tool_calls: z.union([z.array(toolCallSchema), toolCallSchema]).nullish() }),
  }),
  z.object({ type: z.literal('tool-call-end'), index: number }),
  z.object({
    type: z.literal('citation-start'),
    // One object, in spite of the plural name.
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

type StreamEvent = z.infer<typeof eventSchema>
type EventOf<Type> = Extract<StreamEvent, { type: Type }>

const knownTypes: ReadonlySet<unknown> = new Set(
  eventSchema.options.flatMap(({ shape }) => [...shape.type.values]),
)

/** A call whose arguments are being streamed. */
interface OpenCall {
  readonly vendorIndex: number | undefined
  /** Its index among the calls of the message. */
  readonly index: number
  /** The start of the arguments while it is a prefix of `null`; undefined once it was sent. */
  held: string | undefined
}

/** Pieces of one block differ only in their text. */
const repeatedPieces: RepeatedJsonOptions<StreamEvent> = {
  read(json) {
    const value = tryParseEvent(json, eventLimits)
    return isFailedEvent(value) ? undefined : eventSchema.safeParse(value).data
  },
  readText: (event) => {
    const { text: piece, thinking } = contentOf(event) ?? {}
    return piece || thinking || undefined
  },
  repeat: (event, { text: piece }) => {
    const { text: before, thinking } = contentOf(event) ?? {}
    const content = before ? { text: piece, thinking } : { text: before, thinking: piece }
    return { ...event, delta: { message: { content } } } as EventOf<'content-delta'>
  },
}

/** True for an event with an error, whatever it has beside it. */
function isFailedEvent(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && isStatedError(value['error'])
}

function contentOf(event: StreamEvent) {
  return event.type === 'content-delta' ? event.delta?.message?.content : undefined
}

class EventReader {
  readonly #events = new RepeatedJson(repeatedPieces)
  readonly #context: AnswerContext
  #id: string | undefined
  #writer: ChunkWriter | undefined
  readonly #calls: OpenCall[] = []
  readonly #content = new StreamedContent()
  /** The start of each block in the text so far, and the length of that text, in characters. */
  readonly #blockStarts: number[] = []
  #length = 0
  readonly #annotations = new IndexedAnnotations()
  /** The last kind of reasoning: a plan after thoughts begins on a new line. */
  #reasoning: 'none' | 'thoughts' | 'plan' = 'none'

  constructor(context: AnswerContext) {
    this.#context = context
  }

  read(data: string): Frame[] {
    // Comments have no data. Some deployments send `[DONE]` after `message-end`.
    if (data === '' || data.startsWith('[DONE]')) return []
    const event = this.#events.parse(data)
    if (event) return this.#translate(event, data)
    const value = tryParseEvent(data, eventLimits)
    if (isFailedEvent(value)) {
      const { delta } = value
      const usage = isObject(delta) ? parseUsage(delta['usage']) : undefined
      return [createFailedFrame(toFrameFailure(value), usage)]
    }
    const failure = toShapeFailure(value, 'a stream event is not a Cohere chat event')
    const isUnknown = isObject(value) && !knownTypes.has(value['type'])
    // The vendor adds types from time to time, and an error has none.
    const isError =
      isUnknown && value['type'] === undefined && getVendorError(failure) !== undefined
    return isUnknown && !isError ? [] : [createFailedFrame(failure)]
  }

  #translate(event: StreamEvent, data: string): Frame[] {
    switch (event.type) {
      case 'message-start':
        this.#id = event.id ?? undefined
        return []
      case 'content-start':
      case 'content-delta':
        return this.#writeContent(event)
      case 'tool-plan-delta':
        return this.#writePlan(event.delta?.message?.tool_plan ?? '')
      case 'tool-call-start':
        return this.#startCall(event)
      case 'tool-call-delta':
        return this.#addArguments(
          this.#callAt(event.index),
          callInEvent(event)?.function?.arguments ?? '',
        )
      case 'tool-call-end':
        return this.#endCall(this.#callAt(event.index))
      case 'citation-start':
        return this.#writeCitation(event, data)
      case 'message-end':
        return this.#finish(event)
      default:
        return event satisfies never
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
    const { text: content, thinking } = delta?.message?.content ?? {}
    const frames: Frame[] = []
    if (thinking) {
      this.#content.addPart(index ?? 0, 'thinking', thinking)
      this.#reasoning = 'thoughts'
      frames.push(this.#out.reasoning(thinking))
    }
    this.#blockStarts[index ?? 0] ??= this.#length
    if (content) {
      this.#content.addPart(index ?? 0, 'text', content)
      this.#length += countCharacters(content)
      const { wantsLogprobs } = this.#context
      frames.push(this.#out.text(content, wantsLogprobs ? readLogprobs(logprobs) : undefined))
    }
    return frames
  }

  #writePlan(piece: string): Frame[] {
    if (piece === '') return []
    this.#content.addPlan(piece)
    const separator = this.#reasoning === 'thoughts' ? '\n' : ''
    this.#reasoning = 'plan'
    return [this.#out.reasoning(`${separator}${piece}`)]
  }

  #writeCitation({ delta }: EventOf<'citation-start'>, data: string): Frame[] {
    const citation = delta?.message?.citations
    const place = 'delta.message.citations'
    if (citation) this.#content.addCitation(extractTexts(data, place).get(place) ?? '{}')
    const annotations = citation ? toAnnotations(citation, this.#blockStarts) : []
    if (annotations.length === 0) return []
    return [this.#out.delta({ annotations: this.#annotations.add(annotations) })]
  }

  #startCall(event: EventOf<'tool-call-start' | 'tool-call-delta'>): Frame[] {
    const started = callInEvent(event)
    const index = this.#calls.length
    const call: OpenCall = { vendorIndex: event.index ?? undefined, index, held: '' }
    this.#calls.push(call)
    const id = started?.id || newCallId()
    const name = started?.function?.name ?? ''
    this.#content.addCall(id, name)
    const opened = this.#out.toolCall({ index, id, name: this.#context.names.restore(name) })
    return [opened, ...this.#addArguments(call, started?.function?.arguments ?? '')]
  }

  /** Returns the call of an event. The vendor may leave out the index of the only call. */
  #callAt(index: number | null | undefined): OpenCall | undefined {
    return this.#calls.findLast(({ vendorIndex }) => vendorIndex === index) ?? this.#calls.at(-1)
  }

  #addArguments(call: OpenCall | undefined, piece: string): Frame[] {
    if (!call || piece === '') return []
    this.#content.addArguments(call.index, piece)
    const soFar = `${call.held ?? ''}${piece}`
    if (call.held !== undefined && 'null'.startsWith(soFar)) {
      call.held = soFar
      return []
    }
    call.held = undefined
    return [this.#out.toolArguments(call.index, soFar)]
  }

  /** Sends `{}` for empty or `null` arguments, because clients expect an object. */
  #endCall(call: OpenCall | undefined): Frame[] {
    if (call?.held === undefined) return []
    const { held, index } = call
    call.held = undefined
    return [this.#out.toolArguments(index, held === '' || held === 'null' ? '{}' : held)]
  }

  #finish({ delta }: EventOf<'message-end'>): Frame[] {
    const { finish_reason: reason, error, usage } = delta ?? {}
    if (error || mapFailureStatus(reason) !== undefined) {
      const message = error
        ? extractMessage(error)
        : `the answer ended with finish_reason ${reason}`
      const vendor = { code: reason ?? undefined, ...(error ? toVendorError(error) : {}) }
      const failed = createFailedFrame({ kind: 'error-frame', message, vendor }, parseUsage(usage))
      return [{ ...failed, isBilled: true }]
    }
    if (!reason && !this.#writer) return [createFailedFrame({ kind: 'closed-early' })]
    const lastArguments = this.#calls.flatMap((call) => this.#endCall(call))
    const finish = mapFinishReason(reason, this.#calls.length > 0)
    const content = this.#content.finish()
    const carried = content ? [this.#out.providerContent(content)] : []
    return [...lastArguments, ...carried, ...this.#out.finish(finish, parseUsage(usage))]
  }
}

/** A delta has those of its text; one that stands for a whole answer has a list. */
function readLogprobs(logprobs: unknown): object | undefined {
  return toOpenAiLogprobs(Array.isArray(logprobs) ? logprobs : [logprobs])
}

function callInEvent({ delta }: EventOf<'tool-call-start' | 'tool-call-delta'>) {
  const calls = delta?.message?.tool_calls
  return Array.isArray(calls) ? calls[0] : calls
}
