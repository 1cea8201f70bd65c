import type { GeminiPart } from './response.ts'
import { signatureFields } from './signatures.ts'

/* Media that the model generates: `images` and `audio` of an assistant message. */

/**
 * A generated image as an `image_url` part, the form that other gateways use; undefined for any
 * other part.
 */
export function toOpenAiImage({
  inlineData,
  thought,
  thoughtSignature,
}: GeminiPart): object | undefined {
  const { mimeType, data } = inlineData ?? {}
  // Image models think in drafts, which are not part of the answer.
  if (thought || !data || !mimeType?.startsWith('image/')) return undefined
  const url = `data:${mimeType};base64,${data}`
  return { type: 'image_url', image_url: { url }, ...signatureFields(thoughtSignature) }
}

/** A chunk of generated audio. */
export interface AudioChunk {
  /** For example `audio/L16;codec=pcm;rate=24000`. */
  readonly mimeType: string
  readonly base64: string
}

/** Returns the audio of these parts, in order. */
export function findAudio(parts: readonly GeminiPart[]): AudioChunk[] {
  return parts.flatMap(({ inlineData, thought }) => {
    const { mimeType, data } = inlineData ?? {}
    return data && !thought && mimeType?.startsWith('audio/') ? { mimeType, base64: data } : []
  })
}

/**
 * The `audio` of a whole message, in OpenAI's shape plus `mime_type`. Gemini lets no client choose
 * the audio format, so the client needs the media type to play the bytes.
 */
export function toOpenAiAudio(chunks: readonly AudioChunk[], created: number): object {
  const [first] = chunks
  return { ...audioMetadata(first?.mimeType ?? '', created), data: joinBase64(chunks) }
}

/** The fields of `audio` other than its bytes; a stream sends them in its first audio chunk. */
export function audioMetadata(mimeType: string, created: number): object {
  const id = `audio_${crypto.randomUUID().replaceAll('-', '')}`
  return { id, expires_at: created, transcript: '', mime_type: mimeType }
}

/** Joins base64 texts. Texts with padding before the end must be decoded first. */
function joinBase64(chunks: readonly AudioChunk[]): string {
  const texts = chunks.map(({ base64 }) => base64)
  if (!texts.slice(0, -1).some((text) => text.endsWith('='))) return texts.join('')
  return btoa(texts.map((text) => atob(text)).join(''))
}
