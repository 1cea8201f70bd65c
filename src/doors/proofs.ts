import * as z from 'zod'
import type { ChatMessage } from '../core/chat.ts'
import { type PastReasoning, reasoningForms } from '../core/past-reasoning.ts'
import { decodeBase64, encodeBase64 } from '../wire/base64.ts'
import { maxJson } from '../wire/json/body.ts'
import { RawJson, stringifyJson } from '../wire/json/raw.ts'
import { scanLayout } from '../wire/json/scan.ts'
import { extractTexts } from '../wire/json/text.ts'
import type { ChatTarget } from './translated-link.ts'

/*
 * Vendors that reason sign their reasoning, and expect it back unchanged in the next turn. A message of the
 * chat API has members for it: see providers/claude, providers/google and providers/canonical. Clients of
 * other APIs keep it in a member that they return without reading it: the `encrypted_content` of a reasoning
 * item, the `signature` of a thinking block. Both have the form of this file.
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

/** A proof with a longer list does not come back. */
const maxEntries = 1000

/** Reasoning that an upstream of the OpenAI format expects back, see `PastReasoning`. */
const pastReasoning = z.object({
  lineage: text.optional(),
  form: z.enum(reasoningForms).optional(),
  /** Absent where the client keeps the text beside the proof. */
  text: text.optional(),
  entries: z.array(z.unknown()).optional(),
  gap: text.optional(),
})

const proofSchema = z.object({
  /** The client-facing id of the model that has answered. */
  model: text,
  past: z.array(pastReasoning).max(maxEntries).optional(),
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

/** The reasoning that a client keeps, with its proofs. */
export type Proof = z.infer<typeof proofSchema>
/** The same from a client. Without a model it is text that carries no proof. */
export type ReturnedProof = Omit<Proof, 'model'> & { readonly model: Proof['model'] | undefined }
/** The same with the blocks as the answer has them. */
export type GivenProof = Omit<Proof, 'content'> & { readonly content?: object | undefined }
export type ExtraContent = z.infer<typeof extraContent>
export type PastProof = NonNullable<Proof['past']>[number]
export type CallProof = NonNullable<Proof['calls']>[number]
export type KeptThinking = z.infer<typeof thinkingBlock>

/** How a proof begins: names this gateway and the version, so that the content of others is recognized. */
export const proofPrefix = 'gateway-1.'
/** In characters. Longer reasoning does not come back. */
export const maxProofLength = 4 * 1024 * 1024

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** True for a text in this form. */
export function isProof(content: unknown): content is string {
  return typeof content === 'string' && content.startsWith(proofPrefix)
}

/** Encodes a proof, without the vendor's blocks if they are too long; undefined if the rest is, too. */
export function encodeProof(proof: GivenProof): string | undefined {
  const { past, thinking, calls } = proof
  const kept = {
    ...proof,
    past: isOpenable(past) ? past : undefined,
    thinking: isOpenable(thinking) ? thinking : undefined,
    calls: isOpenable(calls) ? calls : undefined,
  }
  // Writing what is then left out takes long.
  if (isLonger([kept.past, kept.thinking, kept.calls, kept.message], maxJsonLength))
    return undefined
  const encoded = proofPrefix + encodeBase64(encoder.encode(stringifyJson(kept)))
  if (encoded.length <= maxProofLength) return encoded
  return proof.content ? encodeProof({ ...proof, content: undefined }) : undefined
}

/** What becomes that many characters, in characters of JSON. */
const maxJsonLength = (maxProofLength / 4) * 3

/** True when the texts in a value have more characters together. Looks no further than that. */
function isLonger(root: unknown, maxCharacters: number): boolean {
  let left = maxCharacters
  const take = (value: unknown): void => {
    if (typeof value === 'string') left -= value.length
    if (typeof value !== 'object' || value === null) return
    for (const name in value) {
      if (left < 0) return
      take((value as Readonly<Record<string, unknown>>)[name])
    }
  }
  take(root)
  return left < 0
}

/** False for a list that is too long to be read again. */
function isOpenable({ length }: readonly unknown[] = []): boolean {
  return length <= maxEntries
}

/** A decoded text. */
export interface OpenedProof {
  /** Undefined if another service made the text, or if it is broken. */
  readonly proof: Proof | undefined
  /** The number of values in the text, as in `ObjectLayout`: a client may send any text. */
  readonly values: number
}

/** Decodes a text in this form. */
export function openProof(encoded: string): OpenedProof {
  if (!isProof(encoded) || encoded.length > maxProofLength) return notProof
  return openProofJson(decodeBase64(encoded.slice(proofPrefix.length)))
}

/** Parses the JSON of a proof. One with more values than a request may hold is counted, and not parsed. */
export function openProofJson(bytes: Uint8Array | undefined): OpenedProof {
  if (!bytes) return notProof
  const { depth, values } = scanLayout(bytes, [], { limits: maxJson })
  if (depth > maxJson.maxDepth || values > maxJson.maxValues) return { proof: undefined, values }
  return { proof: parseProof(decoder.decode(bytes)), values }
}

/** A text that another service has made. */
export const notProof: OpenedProof = Object.freeze({ proof: undefined, values: 0 })

function parseProof(json: string): Proof | undefined {
  const proof = proofSchema.safeParse(tryParse(json)).data
  if (!proof?.content) return proof
  const { family, content } = proof.content
  const raw = new RawJson(extractTexts(json, 'content.content').get('content.content') ?? '[]')
  return { ...proof, content: new ReturnedContent(family, content, raw) }
}

/** The vendor's blocks as a client has returned them. Their JSON has the numbers that the vendor wrote. */
class ReturnedContent {
  readonly family: string
  readonly content: unknown[]
  readonly #raw: RawJson

  constructor(family: string, content: unknown[], raw: RawJson) {
    this.family = family
    this.content = content
    this.#raw = raw
  }

  toJSON(): object {
    return { family: this.family, content: this.#raw }
  }
}

/**
 * Gives the messages of one answer the proofs that their vendor expects; another vendor may refuse them. Each
 * call gets its own, and the last message those of the answer. None is given twice, since a client may send
 * long ones beside many messages and calls.
 */
export function addProofs(
  messages: readonly ChatMessage[],
  proofs: readonly ReturnedProof[],
  target: ChatTarget,
): readonly ChatMessage[] {
  if (proofs.length === 0) return messages
  const own = proofs.filter(({ model }) => target.ignoresUnknown || model === target.id)
  const calls = indexCallProofs(own)
  return messages.map((message, at) => {
    const proven = addCallProofs(message, calls)
    if (at < messages.length - 1) return proven
    return addPastReasoning(addAnswerProofs(proven, own, target), listPast(proofs), target)
  })
}

/** Returns reasoning that a client sent as text alone, which some upstreams take back as it is. */
export function toTextProof(shown: string): ReturnedProof {
  return { model: undefined, past: [{ text: shown }] }
}

/** Adds what upstreams of the OpenAI format may get back. Their profile decides which of it they get. */
export function addPastReasoning(
  message: ChatMessage,
  past: readonly PastReasoning[],
  { ignoresUnknown }: ChatTarget,
): ChatMessage {
  if (ignoresUnknown || past.length === 0) return message
  const { past_reasoning: known } = message
  return { ...message, past_reasoning: [...(Array.isArray(known) ? known : []), ...past] }
}

function listPast(proofs: readonly ReturnedProof[]): readonly PastReasoning[] {
  return proofs.flatMap(({ model, past = [] }) =>
    past.map((one) => ({ ...one, model, text: one.text ?? '' })),
  )
}

/** Indexes the signatures by the ids of their calls. The first one of an id counts. */
function indexCallProofs(proofs: readonly ReturnedProof[]): Map<unknown, ExtraContent> {
  const found = new Map<unknown, ExtraContent>()
  for (const { calls = [] } of proofs) {
    for (const { id, extra } of calls) if (!found.has(id)) found.set(id, extra)
  }
  return found
}

/** Takes the signatures of the calls out of the map. */
function addCallProofs(message: ChatMessage, signatures: Map<unknown, ExtraContent>): ChatMessage {
  const { tool_calls: calls } = message
  if (!calls || signatures.size === 0) return message
  const proven = calls.map((call) => {
    const extra = signatures.get(call['id'])
    signatures.delete(call['id'])
    return extra ? { ...call, extra_content: extra } : call
  })
  return { ...message, tool_calls: proven }
}

function addAnswerProofs(
  message: ChatMessage,
  proofs: readonly ReturnedProof[],
  { ignoresUnknown }: ChatTarget,
): ChatMessage {
  const thinking = proofs.flatMap((proof) => proof.thinking ?? [])
  const extra = proofs.findLast((proof) => proof.message)?.message
  const content = ignoresUnknown && proofs.findLast((proof) => proof.content)?.content
  return {
    ...message,
    ...(thinking.length > 0 && { thinking_blocks: thinking }),
    ...(extra && { extra_content: extra }),
    ...(content && { provider_content: content }),
  }
}

/** Returns the blocks that have a proof. */
export function readKeptThinking(blocks: readonly object[]): KeptThinking[] {
  return blocks.flatMap((block) => thinkingBlock.safeParse(block).data ?? [])
}

/** Returns the signature in a value, if it has one. */
export function readExtraContent(value: unknown): ExtraContent | undefined {
  return value === undefined ? undefined : extraContent.safeParse(value).data
}

function tryParse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
