import type { GeminiPart } from './response.ts'
import { signatureFields } from './signatures.ts'

/* Media that the model makes: `images` and `audio` of a message. */

/** An image that the model has made, in the form that other gateways have made usual. */
export function toOpenAiImage({
  inlineData,
  thought,
  thoughtSignature,
}: GeminiPart): object | undefined {
  const { mimeType, data } = inlineData ?? {}
  // Image models think in drafts, which are not the picture.
  if (thought || !data || !mimeType?.startsWith('image/')) return undefined
  const url = `data:${mimeType};base64,${data}`
  return { type: 'image_url', image_url: { url }, ...signatureFields(thoughtSignature) }
}

/** A piece of sound that the model has made. */
export interface AudioChunk {
  /** For example `audio/L16;codec=pcm;rate=24000`. */
  readonly mimeType: string
  readonly base64: string
}

/** The sound in these parts, in order. */
export function findAudio(parts: readonly GeminiPart[]): AudioChunk[] {
  return parts.flatMap(({ inlineData, thought }) => {
    const { mimeType, data } = inlineData ?? {}
    return data && !thought && mimeType?.startsWith('audio/') ? { mimeType, base64: data } : []
  })
}

/**
 * The `audio` of a whole message: the OpenAI API's, and the media type, without which the bytes of
 * a vendor that takes no wish of a format mean nothing.
 */
export function toOpenAiAudio(sounds: readonly AudioChunk[], created: number): object {
  const [first] = sounds
  return { ...audioMetadata(first?.mimeType ?? '', created), data: joinBase64(sounds) }
}

/** What the first chunk of a stream says of the sound besides its bytes. */
export function audioMetadata(mimeType: string, created: number): object {
  const id = `audio_${crypto.randomUUID().replaceAll('-', '')}`
  return { id, expires_at: created, transcript: '', mime_type: mimeType }
}

/** Base64 can only be strung together where no piece but the last is padded. */
function joinBase64(sounds: readonly AudioChunk[]): string {
  const texts = sounds.map(({ base64 }) => base64)
  if (!texts.slice(0, -1).some((text) => text.endsWith('='))) return texts.join('')
  return btoa(texts.map((text) => atob(text)).join(''))
}
