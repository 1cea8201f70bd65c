import * as z from 'zod'
import { decodeBase64, encodeBase64 } from '../../wire/base64.ts'
import { tryParseJson } from '../../wire/json.ts'
import { stringifyJson } from '../../wire/raw-json.ts'

/*
 * Vendors that reason sign their reasoning, and expect it back unchanged in the next turn. Clients of this
 * API keep it in the `encrypted_content` of a reasoning item, which they return without reading it. It holds
 * the members of a chat message that carry reasoning and its proofs: see providers/claude and
 * providers/google.
 */

const text = z.string()
const index = z.int().nonnegative().optional()

/** The thinking blocks of Claude. Other members than these would not be accepted back. */
const thinkingBlock = z.union([
  z.object({ type: z.literal('thinking'), thinking: text, signature: text, index }),
  z.object({ type: z.literal('redacted_thinking'), data: text, index }),
])

/** The thought signatures of Gemini. */
const extraContent = z.object({ google: z.object({ thought_signature: text }) })

const maxEntries = 1000

const proofSchema = z.object({
  /** The client-facing id of the model that has answered. */
  model: text,
  /** The text of the reasoning, of a model that signs none. */
  reasoning: text.optional(),
  thinking: z.array(thinkingBlock).max(maxEntries).optional(),
  /** The signature of the message's text. */
  message: extraContent.optional(),
  /** The signatures of tool calls, by the ids of the calls. */
  calls: z
    .array(z.object({ id: text, extra: extraContent }))
    .max(maxEntries)
    .optional(),
  /** The vendor's own blocks of the whole answer, for the same family of APIs. */
  content: z.object({ family: text, content: z.array(z.unknown()) }).optional(),
})

/** The reasoning that one item carries, with its proofs. */
export type Proof = z.infer<typeof proofSchema>
/** The same with the blocks as the answer has them. */
export type GivenProof = Omit<Proof, 'content'> & { readonly content?: object | undefined }
export type ExtraContent = z.infer<typeof extraContent>
export type ThinkingBlock = z.infer<typeof thinkingBlock>

/** Names this gateway and the version of the form, so that the content of others is recognized. */
const prefix = 'gateway-1.'
/** In characters. Longer reasoning does not come back. */
const maxLength = 4 * 1024 * 1024

const encoder = new TextEncoder()

/** Encodes the content of a reasoning item; undefined when it is too long. */
export function encodeProof(proof: GivenProof): string | undefined {
  const content = prefix + encodeBase64(encoder.encode(stringifyJson(proof)))
  return content.length > maxLength ? undefined : content
}

/** Decodes the content of a reasoning item; undefined when another service made it, or when it is broken. */
export function decodeProof(content: string): Proof | undefined {
  if (!content.startsWith(prefix) || content.length > maxLength) return undefined
  const bytes = decodeBase64(content.slice(prefix.length))
  return bytes && proofSchema.safeParse(parseJson(bytes)).data
}

/** Returns the blocks that have a proof. */
export function readThinkingBlocks(blocks: readonly object[]): ThinkingBlock[] {
  return blocks.flatMap((block) => thinkingBlock.safeParse(block).data ?? [])
}

/** Returns the signature in a value, if it has one. */
export function readExtraContent(value: unknown): ExtraContent | undefined {
  return value === undefined ? undefined : extraContent.safeParse(value).data
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return tryParseJson(bytes)
  } catch {
    // It has too many values.
    return undefined
  }
}
