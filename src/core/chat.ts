import * as z from 'zod'
import { list, loose } from './as-sent.ts'
import type { MemberLayout, ObjectLayout } from './layout.ts'

/*
 * Only the fields that the gateway itself reads are typed here. All other fields reach upstreams of the
 * OpenAI format unchanged, so every object is loose. Parse with `validateAsSent`.
 */

const count = z.int().positive().nullish()

const part = loose({
  type: z.string().optional(),
  text: z.string().nullish(),
  // Several vendors accept a plain string, and clients send one.
  image_url: z
    .union([z.string(), loose({ url: z.string(), detail: z.string().nullish() })])
    .nullish(),
})

/** JSON text according to the API; some clients send the object itself. */
export type CallArguments = string | Readonly<Record<string, unknown>>

/** The schema of the arguments of a tool call in a request. */
export const callArguments = z.custom<CallArguments>(
  (value) =>
    typeof value === 'string' ||
    (typeof value === 'object' && value !== null && !Array.isArray(value)),
  'must be a string or an object',
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

const model = z.string().min(1)

const options = {
  stream: z.boolean().nullish(),
  stream_options: loose({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: count,
  max_completion_tokens: count,
  max_output_tokens: count,
  n: count,
}

/** The fields of a chat completion request that the gateway reads. */
export const chatRequest = loose({
  model,
  messages: list(message, 1),
  ...options,
  tools: list(loose({})).nullish(),
})

/** The same without those that may be long. */
export const chatHead = loose({ model, ...options })

export type ChatRequest = z.infer<typeof chatRequest>
export type ChatHead = z.infer<typeof chatHead>
export type ChatMessage = ChatRequest['messages'][number]
export type ContentPart = z.infer<typeof part>

/** The byte positions of the members that some upstreams need changed, and the size of the request. */
export type ChatLayout = MemberLayout<'model' | 'stream_options'> &
  Pick<ObjectLayout<never>, 'values' | 'commas'>

/** Upper estimate of the output of one link, from the request that its upstream receives. */
export interface OutputEstimate {
  /** The largest bound in tokens on one choice, set by the client or the gateway; 0 without one. */
  readonly maxTokens: number
  /** The request to the upstream contains a bound. */
  readonly isBounded: boolean
  readonly choices: number
}

/** Returns the largest of a request's output bounds in tokens: which one an upstream obeys is unknown. */
export function findOutputBound(head: ChatHead): number | undefined {
  const { max_tokens, max_completion_tokens, max_output_tokens } = head
  const largest = Math.max(max_tokens ?? 0, max_completion_tokens ?? 0, max_output_tokens ?? 0)
  return largest > 0 ? largest : undefined
}

/** One chat request: the client's bytes and their parsed form. */
export interface ChatCall {
  readonly bytes: Uint8Array
  readonly head: ChatHead
  /** The whole request, which may have to be parsed. */
  readonly request: ChatRequest
  readonly layout: ChatLayout
  readonly stream: boolean
  /** The client asked for a usage chunk at the end of its stream. */
  readonly wantsUsageChunk: boolean
  /** The client asked for the log probabilities of tokens. */
  readonly wantsLogprobs: boolean
  /**
   * The gateway has written the request for a client of another API, and writes the answer from the choices, not
   * from the bytes of the upstream.
   */
  readonly isMade: boolean
  /** A message has a vendor's own blocks, which upstreams of the OpenAI format do not know. */
  readonly hasProviderContent: boolean
}

/** Returns the text that the arguments of a tool call add to a prompt. */
export function stringifyArguments(given: CallArguments | null | undefined): string {
  return typeof given === 'object' && given !== null ? JSON.stringify(given) : (given ?? '')
}

/** One image of a request. */
export interface ImagePart {
  readonly url: string
  readonly detail: string | undefined
  /** The dotted path of the part, for error messages. */
  readonly path: string
}

/** Lists the image parts of a request in order. */
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
