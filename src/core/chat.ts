import * as z from 'zod'
import { list, loose } from './as-sent.ts'
import type { MemberLayout, ObjectLayout } from './layout.ts'

/*
 * Only the fields that the gateway itself reads are typed here. Everything else passes untouched
 * to upstreams that speak the OpenAI format, so every object is loose. To be read with `validateAsSent`.
 */

const count = z.int().positive().nullish()

const part = loose({
  type: z.string().optional(),
  text: z.string().nullish(),
  // Several vendors accept a bare string, and clients send it.
  image_url: z
    .union([z.string(), loose({ url: z.string(), detail: z.string().nullish() })])
    .nullish(),
})

/** A JSON text by the API's own word; some clients send the object itself. */
export type CallArguments = string | Readonly<Record<string, unknown>>

/** The arguments of a call in a request. */
export const callArguments = z.custom<CallArguments>(
  (value) =>
    typeof value === 'string' ||
    (typeof value === 'object' && value !== null && !Array.isArray(value)),
  'must be a text or an object',
)

const toolCall = loose({
  function: loose({ name: z.string().nullish(), arguments: callArguments.nullish() }).nullish(),
})

const message = loose({
  role: z.string(),
  content: z.union([z.string(), list(part)]).nullish(),
  name: z.string().nullish(),
  tool_calls: list(toolCall).nullish(),
})

/** What the gateway reads of a chat completion request. */
export const chatRequest = loose({
  model: z.string().min(1),
  messages: list(message, 1),
  stream: z.boolean().nullish(),
  stream_options: loose({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: count,
  max_completion_tokens: count,
  max_output_tokens: count,
  n: count,
  tools: list(loose({})).nullish(),
})

export type ChatRequest = z.infer<typeof chatRequest>
export type ChatMessage = ChatRequest['messages'][number]
export type ContentPart = z.infer<typeof part>

/** Where the members stand that some upstream needs changed, and how much there is. */
export type ChatLayout = MemberLayout<'model' | 'stream_options'> &
  Pick<ObjectLayout<never>, 'values' | 'commas'>

/** What a request may make one link write, by the bytes that its upstream gets. */
export interface OutputEstimate {
  /** The largest bound of one choice that the client or the gateway has set; 0 without one. */
  readonly maxTokens: number
  /** Those bytes hold a bound. */
  readonly isBounded: boolean
  readonly choices: number
}

/** The largest of a request's output bounds: which of them an upstream obeys is not known. */
export function findOutputBound(request: ChatRequest): number | undefined {
  const { max_tokens, max_completion_tokens, max_output_tokens } = request
  const largest = Math.max(max_tokens ?? 0, max_completion_tokens ?? 0, max_output_tokens ?? 0)
  return largest > 0 ? largest : undefined
}

/** One chat request: the client's own bytes and what they mean. */
export interface ChatCall {
  readonly bytes: Uint8Array
  readonly request: ChatRequest
  readonly layout: ChatLayout
  readonly stream: boolean
  /** The client asked for a usage chunk at the end of its stream. */
  readonly wantsUsageChunk: boolean
  /** The client asked for the log probabilities of tokens. */
  readonly wantsLogprobs: boolean
}

/** The text that the arguments of a call put into a prompt. */
export function stringifyArguments(given: CallArguments | null | undefined): string {
  return typeof given === 'object' && given !== null ? JSON.stringify(given) : (given ?? '')
}

/** One image of a request, wherever it stands. */
export interface ImagePart {
  readonly url: string
  readonly detail: string | undefined
  /** The dotted path of the part, for error messages. */
  readonly path: string
}

/** Every image part of a request, in order. */
export function listImageParts({ messages }: ChatRequest): readonly ImagePart[] {
  const images: ImagePart[] = []
  messages.forEach(({ content }, m) => {
    if (!Array.isArray(content)) return
    content.forEach(({ image_url: image }, p) => {
      if (image === undefined || image === null) return
      const { url, detail } = typeof image === 'string' ? { url: image } : image
      const path = `messages.${m}.content.${p}.image_url`
      images.push({ url, detail: detail ?? undefined, path })
    })
  })
  return images
}
