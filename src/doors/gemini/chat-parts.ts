import type { ContentPart } from '../../core/chat.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { isObject } from '../../wire/json/parse.ts'
import type { ChatTarget } from '../translated-link.ts'
import { toStandardBase64 } from './base64.ts'
import type { GeminiPart } from './schema.ts'

/** Audio that the chat API takes in a form of its own, by its media types. */
const audioFormats: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/mp3', 'mp3'],
  ['audio/mpeg', 'mp3'],
])

/** Writes inline data, or a file by its address, as a part of a chat message; undefined when it is neither. */
export function toFilePart(
  { inlineData, fileData }: Pick<GeminiPart, 'inlineData' | 'fileData'>,
  path: string,
  target: ChatTarget,
): ContentPart | undefined {
  if (inlineData) return toInlinePart(inlineData, `${path}.inlineData`)
  return fileData ? toAddressPart(fileData, `${path}.fileData`, target) : undefined
}

function toInlinePart(
  { mimeType, data }: NonNullable<GeminiPart['inlineData']>,
  path: string,
): ContentPart {
  if (!mimeType) throw missing(`${path}.mimeType`)
  if (!data) throw missing(`${path}.data`)
  const standard = toStandardBase64(data)
  const format = audioFormats.get(mimeType)
  if (format !== undefined) {
    return { type: 'input_audio', input_audio: { data: standard, format } }
  }
  const url = `data:${mimeType};base64,${standard}`
  if (mimeType.startsWith('image/')) return { type: 'image_url', image_url: { url } }
  return { type: 'file', file: { filename: toFileName(mimeType), file_data: url } }
}

/** Vendors recognize documents by the ending of their names. */
function toFileName(mimeType: string): string {
  const [, subtype = ''] = /^[^/]+\/([a-z0-9]+)/i.exec(mimeType) ?? []
  return `file.${subtype === 'plain' ? 'txt' : subtype || 'bin'}`
}

function toAddressPart(
  { fileUri, mimeType }: NonNullable<GeminiPart['fileData']>,
  path: string,
  { takesFileAddresses }: ChatTarget,
): ContentPart {
  if (!fileUri) throw missing(`${path}.fileUri`)
  const isImage =
    mimeType?.startsWith('image/') ?? /\.(?:png|jpe?g|webp|gif)(?:[?#]|$)/i.test(fileUri)
  if (isImage || !/^https?:/i.test(fileUri)) {
    return { type: 'image_url', image_url: { url: fileUri } }
  }
  if (!takesFileAddresses) {
    const rule = 'the API of this model takes no file by its address; send the data inline'
    throw new UntranslatableError(`${path}: ${rule}`, path)
  }
  return { type: 'file', file: { filename: toFileName(mimeType ?? ''), file_data: fileUri } }
}

function missing(path: string): UntranslatableError {
  return new UntranslatableError(`${path} is required`, path)
}

interface ResultText {
  readonly text: string
  readonly isError: boolean
}

/**
 * Writes the response of a function as text. Clients wrap a text as `output` or `result`, and a failure as
 * `error`; any other value stays JSON. `json` is its exact text.
 */
export function toResultText(response: unknown, json: string | undefined): ResultText {
  if (isObject(response) && Object.keys(response).length === 1) {
    const [name = '', value] = Object.entries(response)[0] ?? []
    if (name === 'error') return { text: toText(value), isError: true }
    if ((name === 'output' || name === 'result') && typeof value === 'string') {
      return { text: value, isError: false }
    }
  }
  return { text: json ?? toText(response), isError: false }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {})
}
