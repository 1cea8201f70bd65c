import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import type { FilePart, ImageUrlPart } from '../canonical/messages.ts'
import type { ClaudeBlock } from '../claude/cache-marks.ts'
import { isS3Place } from '../translation/media-uses.ts'

/**
 * The image formats of Converse, by media type.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
const imageFormats: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpeg'],
  // Not a media type, but clients often send it.
  ['image/jpg', 'jpeg'],
  ['image/png', 'png'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
])

const openXml = 'application/vnd.openxmlformats-officedocument'

/**
 * The document formats of Converse, by media type.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html
 */
const documentFormats: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  [`${openXml}.wordprocessingml.document`, 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  [`${openXml}.spreadsheetml.sheet`, 'xlsx'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
])

/**
 * The video formats of Converse, by media type.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_VideoBlock.html
 */
const videoFormats: ReadonlyMap<string, string> = new Map([
  ['video/x-matroska', 'mkv'],
  ['video/quicktime', 'mov'],
  // Not a media type, but clients often send it.
  ['video/mov', 'mov'],
  ['video/mp4', 'mp4'],
  ['video/webm', 'webm'],
  ['video/x-flv', 'flv'],
  ['video/mpeg', 'mpeg'],
  ['video/x-ms-wmv', 'wmv'],
  ['video/3gpp', 'three_gp'],
])

const textFormats: ReadonlySet<unknown> = new Set(['csv', 'html', 'txt', 'md'])

/** Whether a block is a text document, behind which AWS rejects a cache point. */
export function isTextDocument({ document }: ClaudeBlock): boolean {
  // Only this file writes documents.
  return textFormats.has((document as JsonObject | undefined)?.['format'])
}

/** Translates the images, videos and files of one request, in which document names must be unique. */
export class MediaBlocks {
  readonly #names = new Set<string>()
  /** How many documents have been given each name. */
  readonly #copies = new Map<string, number>()

  /** A document that is sent as an image becomes a document block. */
  toImageBlock({ url, path }: ImageUrlPart): ClaudeBlock {
    const param = `${path}.image_url`
    const uri = parseDataUri(url)
    if (!uri) throw new UntranslatableError(`${param}: must be a base64 data URI`, param)
    const { mediaType, payload } = uri
    const format = imageFormats.get(mediaType)
    if (format !== undefined) return { image: { format, source: { bytes: payload } } }
    const documentFormat = documentFormats.get(mediaType)
    if (documentFormat !== undefined)
      return this.#toDocument(documentFormat, { bytes: payload }, undefined)
    const rule = 'must hold a jpeg, png, gif or webp image, or a document'
    throw new UntranslatableError(`${param}: ${rule}`, param)
  }

  /** Converse has no file store, so a file comes with its content, or is in S3. */
  toFileBlock({ member, id, data, name, path }: FilePart): ClaudeBlock {
    const place = [data, id].find((text) => text !== undefined && isS3Place(text))
    if (place !== undefined) return this.#toStoredFile(place, name, path)
    if (data === undefined) {
      throw new UntranslatableError(`${path}: must be a file with its content in file_data`, path)
    }
    const param = `${path}.${member === 'file' ? 'file.file_data' : member}`
    const uri = parseDataUri(data)
    if (!uri) throw new UntranslatableError(`${param}: must be a base64 data URI`, param)
    const video = videoFormats.get(uri.mediaType)
    if (video !== undefined) return { video: { format: video, source: { bytes: uri.payload } } }
    const named = findByExtension(name)
    // Browsers send a file of unknown type without a media type.
    const format =
      documentFormats.get(uri.mediaType) ?? (named?.block === 'document' ? named.format : undefined)
    if (format !== undefined) return this.#toDocument(format, { bytes: uri.payload }, name)
    const formats = [...documentFormats.values()].join(', ')
    throw new UntranslatableError(`${param}: must be one of ${formats}`, param)
  }

  #toStoredFile(uri: string, filename: string | undefined, path: string): ClaudeBlock {
    const found = findByExtension(uri) ?? findByExtension(filename)
    if (!found) {
      const rule = 'must have the extension of an image, a video or a document'
      throw new UntranslatableError(`${path}.file: ${rule}`, `${path}.file`)
    }
    const { block, format } = found
    const source = { s3Location: { uri } }
    if (block !== 'document') return { [block]: { format, source } }
    return this.#toDocument(format, source, filename ?? uri.slice(uri.lastIndexOf('/') + 1))
  }

  #toDocument(format: string, source: object, filename: string | undefined): ClaudeBlock {
    return { document: { format, name: this.#uniqueName(filename), source } }
  }

  #uniqueName(filename: string | undefined): string {
    const name = toDocumentName(filename ?? '') || `document-${this.#names.size + 1}`
    let copies = this.#copies.get(name) ?? 1
    let unique = name
    while (this.#names.has(unique)) unique = `${name} (${++copies})`
    this.#copies.set(name, copies)
    this.#names.add(unique)
    return unique
  }
}

interface FileFormat {
  readonly block: 'image' | 'video' | 'document'
  readonly format: string
}

const toEntry = (block: FileFormat['block'], extension: string, format = extension) =>
  [extension, { block, format }] as const

const formatsByExtension: ReadonlyMap<string, FileFormat> = new Map([
  ...['jpeg', 'png', 'gif', 'webp'].map((extension) => toEntry('image', extension)),
  toEntry('image', 'jpg', 'jpeg'),
  ...[...videoFormats.values()].map((extension) => toEntry('video', extension)),
  toEntry('video', 'mpg'),
  toEntry('video', '3gp', 'three_gp'),
  ...[...documentFormats.values()].map((extension) => toEntry('document', extension)),
])

function findByExtension(filename: string | undefined): FileFormat | undefined {
  const extension = filename?.slice(filename.lastIndexOf('.') + 1).toLowerCase()
  return extension === undefined ? undefined : formatsByExtension.get(extension)
}

/** Characters of a file name that are searched, so that a huge name costs no time. */
const maxNameInput = 1000

/**
 * Removes the extension and the characters that Converse rejects. 190 characters leave room for a
 * number: Converse allows 200.
 */
function toDocumentName(filename: string): string {
  const end = filename.lastIndexOf('.')
  return filename
    .slice(0, end < 0 ? maxNameInput : Math.min(end, maxNameInput))
    .replace(/[^a-zA-Z0-9()[\]-]+/g, ' ')
    .slice(0, 190)
    .trim()
}
