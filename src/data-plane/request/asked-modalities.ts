import {
  type AskedModalities,
  anyModalities,
  inputModalities,
  outputModalities,
} from '../../core/price-table.ts'

/**
 * How a body shows what a modality is in: the types of content parts in each API, and the types of data. A PDF may be
 * read as images, and a file by its address as a film. Text that looks the same counts too: it can only be reserved
 * for too much.
 */
const signs = {
  audio: /audio[_/\\]|_audio|:\s*"audio"/i,
  image: /image[_/\\]|_image|:\s*"image"|pdf/i,
  video: /video[_/\\]|_video|:\s*"video"|file_?uri/i,
} as const

/** Any escape of ASCII may be a part of such a sign. */
const asciiEscape = /\\u00/

/** Finds the modalities that the prompt of a request may have besides text. */
export function findInputModalities(body: Uint8Array): AskedModalities['input'] {
  const text = latin1.decode(body)
  if (asciiEscape.test(text)) return anyModalities.input
  return new Set(inputModalities.filter((modality) => signs[modality].test(text)))
}

/** Every byte is a character, so no sign can be hidden. */
const latin1 = new TextDecoder('latin1')

/**
 * Reads what a request asks to be generated besides text. Without `modalities` the default of the model applies, which
 * may be an image, and `extra_body` may have members of the vendor's own.
 */
export function readOutputModalities(given: unknown, extra: unknown): AskedModalities['output'] {
  if (!Array.isArray(given) || extra !== undefined) return anyModalities.output
  return new Set(outputModalities.filter((modality) => given.includes(modality)))
}
