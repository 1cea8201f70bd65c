import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import type { FilePart, ImageUrlPart, JsonObject } from '../canonical/messages.ts'
import type { Block } from './blocks.ts'

const imageFormats: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpeg'],
  // Not a media type, but often written.
  ['image/jpg', 'jpeg'],
  ['image/png', 'png'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
])

const openXml = 'application/vnd.openxmlformats-officedocument'

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

/** True for a document that is text, which no cache point may follow. */
export function isTextDocument({ document }: Block): boolean {
  // Documents are written by this file alone.
  return textFormats.has((document as JsonObject | undefined)?.['format'])
}

/** Turns inline data into image and document blocks, for one request: documents need names of their own. */
export class MediaBlocks {
  readonly #names = new Set<string>()
  /** How often the translation has renamed each name. */
  readonly #copies = new Map<string, number>()

  image({ url, path }: ImageUrlPart): Block {
    const place = `${path}.image_url`
    const uri = parseDataUri(url)
    if (!uri) throw new UntranslatableError(`${place}: must be a base64 data URI`, place)
    const { mediaType, payload } = uri
    const format = imageFormats.get(mediaType)
    if (format !== undefined) return { image: { format, source: { bytes: payload } } }
    const documentFormat = documentFormats.get(mediaType)
    if (documentFormat !== undefined) return this.#document(documentFormat, payload, undefined)
    const rule = 'must hold a jpeg, png, gif or webp image, or a document'
    throw new UntranslatableError(`${place}: ${rule}`, place)
  }

  /** A file as a document. Converse has no access to stores of files. */
  file({ data, name, path }: FilePart): Block {
    if (data === undefined) {
      throw new UntranslatableError(`${path}: must be a file with its content in file_data`, path)
    }
    const place = `${path}.file.file_data`
    const uri = parseDataUri(data)
    if (!uri) throw new UntranslatableError(`${place}: must be a base64 data URI`, place)
    const format = documentFormats.get(uri.mediaType) ?? extensionOf(name)
    if (format !== undefined) return this.#document(format, uri.payload, name)
    const formats = [...documentFormats.values()].join(', ')
    throw new UntranslatableError(`${place}: must be one of ${formats}`, place)
  }

  #document(format: string, bytes: string, filename: string | undefined): Block {
    return { document: { format, name: this.#newName(filename), source: { bytes } } }
  }

  /** Names may not repeat. */
  #newName(filename: string | undefined): string {
    const name = plainName(filename ?? '') || `document-${this.#names.size + 1}`
    let copies = this.#copies.get(name) ?? 1
    let unique = name
    while (this.#names.has(unique)) unique = `${name} (${++copies})`
    this.#copies.set(name, copies)
    this.#names.add(unique)
    return unique
  }
}

/** Browsers that know no type for a file send it without one. */
function extensionOf(filename: string | undefined): string | undefined {
  const extension = filename?.slice(filename.lastIndexOf('.') + 1).toLowerCase()
  return [...documentFormats.values()].find((format) => format === extension)
}

/** Nothing is read behind it but the extension. */
const longestFilename = 1000

/** Without its extension, in the alphabet that Converse allows, with room for a number behind it. */
function plainName(filename: string): string {
  const end = filename.lastIndexOf('.')
  return filename
    .slice(0, end < 0 ? longestFilename : Math.min(end, longestFilename))
    .replace(/[^a-zA-Z0-9()[\]-]+/g, ' ')
    .slice(0, 190)
    .trim()
}
