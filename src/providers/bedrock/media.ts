import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import type { FilePart, ImageUrlPart, JsonObject } from '../canonical/messages.ts'
import type { Block } from '../claude/cache-marks.ts'

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

const textFormats: ReadonlySet<unknown> = new Set(['csv', 'html', 'txt', 'md'])

/** Whether a block is a text document, behind which AWS rejects a cache point. */
export function isTextDocument({ document }: Block): boolean {
  // Only this file writes documents.
  return textFormats.has((document as JsonObject | undefined)?.['format'])
}

/** Translates the images and files of one request, in which document names must be unique. */
export class MediaBlocks {
  readonly #names = new Set<string>()
  /** How many documents have been given each name. */
  readonly #copies = new Map<string, number>()

  /** A document that is sent as an image becomes a document block. */
  toImageBlock({ url, path }: ImageUrlPart): Block {
    const param = `${path}.image_url`
    const uri = parseDataUri(url)
    if (!uri) throw new UntranslatableError(`${param}: must be a base64 data URI`, param)
    const { mediaType, payload } = uri
    const format = imageFormats.get(mediaType)
    if (format !== undefined) return { image: { format, source: { bytes: payload } } }
    const documentFormat = documentFormats.get(mediaType)
    if (documentFormat !== undefined) return this.#toDocument(documentFormat, payload, undefined)
    const rule = 'must hold a jpeg, png, gif or webp image, or a document'
    throw new UntranslatableError(`${param}: ${rule}`, param)
  }

  /** Converse has no file store, so a file must come with its content. */
  toDocumentBlock({ data, name, path }: FilePart): Block {
    if (data === undefined) {
      throw new UntranslatableError(`${path}: must be a file with its content in file_data`, path)
    }
    const param = `${path}.file.file_data`
    const uri = parseDataUri(data)
    if (!uri) throw new UntranslatableError(`${param}: must be a base64 data URI`, param)
    const format = documentFormats.get(uri.mediaType) ?? findFormat(name)
    if (format !== undefined) return this.#toDocument(format, uri.payload, name)
    const formats = [...documentFormats.values()].join(', ')
    throw new UntranslatableError(`${param}: must be one of ${formats}`, param)
  }

  #toDocument(format: string, bytes: string, filename: string | undefined): Block {
    return { document: { format, name: this.#uniqueName(filename), source: { bytes } } }
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

/** Finds the format by the extension: browsers send a file of unknown type without a media type. */
function findFormat(filename: string | undefined): string | undefined {
  const extension = filename?.slice(filename.lastIndexOf('.') + 1).toLowerCase()
  return [...documentFormats.values()].find((format) => format === extension)
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
