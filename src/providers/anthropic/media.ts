import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { decodeBase64 } from '../../wire/base64.ts'
import { isDataUri, parseDataUri } from '../../wire/data-uri.ts'
import {
  type CanonicalMessage,
  type FilePart,
  type ImageUrlPart,
  listParts,
} from '../canonical/messages.ts'
import type { ClaudeBlock } from '../claude/cache-marks.ts'
import { isHttpsUrl } from '../translation/media-uses.ts'

const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])
const pdf = 'application/pdf'
/** The prefix of a reference to the vendor's Files API. */
const filePrefix = 'anthropic-file:'

/** Translates a data URI, an address, which the vendor fetches, or a reference to the Files API. */
export function toImageBlock({ url, path }: ImageUrlPart): ClaudeBlock {
  if (isDataUri(url)) return toInlineImage(url, path)
  if (url.startsWith(filePrefix)) {
    return { type: 'image', source: { type: 'file', file_id: url.slice(filePrefix.length) } }
  }
  if (/^https?:/i.test(url)) return { type: 'image', source: { type: 'url', url } }
  throw new UntranslatableError(
    `${path}.image_url must be a base64 data URI, an http(s) address or an ${filePrefix} reference`,
    `${path}.image_url`,
  )
}

/** A PDF that is sent as an image becomes a document block. */
function toInlineImage(url: string, path: string): ClaudeBlock {
  const uri = parseDataUri(url)
  // `image/jpg` is not a media type, but clients often send it.
  const mediaType = uri?.mediaType === 'image/jpg' ? 'image/jpeg' : (uri?.mediaType ?? '')
  const kind = imageTypes.has(mediaType) ? 'image' : mediaType === pdf ? 'document' : undefined
  if (!uri || !kind) {
    const types = 'jpeg, png, gif, webp or pdf'
    const param = `${path}.image_url`
    throw new UntranslatableError(`${param} must hold base64 data of type ${types}`, param)
  }
  return { type: kind, source: { type: 'base64', media_type: mediaType, data: uri.payload } }
}

/** Translates a file. Text files travel decoded, all others as base64; the vendor fetches an address. */
export function toDocumentBlock({ data, id, name, path }: FilePart): ClaudeBlock {
  const title = name === undefined ? {} : { title: name }
  const url = [data, id].find((text) => text !== undefined && isHttpsUrl(text))
  if (url !== undefined) return { type: 'document', source: { type: 'url', url }, ...title }
  if (data === undefined) {
    if (id === undefined) {
      throw new UntranslatableError(`${path}.file needs file_data or file_id`, `${path}.file`)
    }
    return { type: 'document', source: { type: 'file', file_id: id } }
  }
  const uri = parseDataUri(data)
  const param = `${path}.file.file_data`
  if (!uri) throw new UntranslatableError(`${param} must be a base64 data URI`, param)
  switch (uri.mediaType) {
    case pdf:
      return {
        type: 'document',
        source: { type: 'base64', media_type: pdf, data: uri.payload },
        ...title,
      }
    case 'text/plain': {
      const bytes = decodeBase64(uri.payload)
      if (!bytes) throw new UntranslatableError(`${param} is not valid base64`, param)
      const text = new TextDecoder().decode(bytes)
      return {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: text },
        ...title,
      }
    }
    default:
      throw new UntranslatableError(`${path}: must be a PDF or a plain text file`, path)
  }
}

/** Whether a message refers to a file of the Files API. */
export function usesStoredFiles(message: CanonicalMessage): boolean {
  return listParts(message).some(
    (part) =>
      (part.type === 'image' && part.url.startsWith(filePrefix)) ||
      (part.type === 'file' && part.data === undefined && !isHttpsUrl(part.id ?? '')),
  )
}
