import { isDataUri, parseDataUriType } from '../../wire/data-uri.ts'
import type {
  CanonicalPart,
  FilePart,
  GuardedPart,
  ImageUrlPart,
  TextPart,
} from '../canonical/messages.ts'
import type { Feature } from './table.ts'

/** Returns the row of the table for a part other than text. */
export function classifyMedia(part: Exclude<CanonicalPart, TextPart | GuardedPart>): Feature {
  switch (part.type) {
    case 'image':
      return classifyImage(part)
    case 'file':
      return classifyFile(part)
    case 'audio':
      return 'input_audio'
    case 'other':
      return 'part of another type'
    default:
      return part satisfies never
  }
}

function classifyImage({ url }: ImageUrlPart): Feature {
  if (url.startsWith('anthropic-file:')) return 'image_url with a file of Anthropic'
  if (isGoogleFile(url)) return 'image_url with a file of Google'
  if (/^https?:/i.test(url)) return 'image_url with an http(s) address'
  if (!isDataUri(url)) return 'image_url with another text'
  const type = parseDataUriType(url)
  if (type === undefined) return 'image_url with data that is not base64'
  if (imageTypes.has(type)) return 'image_url with a JPEG, PNG, GIF or WebP'
  if (type === pdf) return 'image_url with a PDF'
  return documentTypes.has(type)
    ? 'image_url with a text or an office document'
    : 'image_url with data of another type'
}

function classifyFile({ member, id, data, name = '' }: FilePart): Feature {
  if ([id, data].some((text) => text !== undefined && isGoogleFile(text))) return 'file of Google'
  if ([id, data].some((text) => text !== undefined && isS3Place(text))) return 'file at S3'
  if ([id, data].some((text) => text !== undefined && isHttpsUrl(text))) {
    return member === 'file' ? 'file with an https address' : 'video_url with an https address'
  }
  if (data === undefined) {
    return id === undefined ? 'file without file_data and file_id' : 'file with a file_id'
  }
  const type = parseDataUriType(data)
  if (type === undefined) return 'file whose file_data is not a base64 data URI'
  if (type === pdf) return 'file with a PDF'
  if (type.startsWith('video/')) return 'file with a video'
  if (type === 'text/plain') return 'file with plain text'
  if (documentTypes.has(type)) return 'file with another text or an office document'
  const isNamed = documentNames.test(name)
  if (type === '') {
    return isNamed
      ? 'file without a media type whose filename has a document extension'
      : 'file without a media type'
  }
  return isNamed
    ? 'file of another type whose filename has a document extension'
    : 'file of another type'
}

/** True for a `detail` that every API with this field supports. */
export function isKnownDetail(detail: string | undefined): boolean {
  return detail === 'auto' || detail === 'low' || detail === 'high'
}

/** True for an object of Cloud Storage, or a file of the Files API by its short or full name. */
export function isGoogleFile(address: string): boolean {
  return /^(?:gs:\/\/[^/]+\/.|files\/|https:\/\/generativelanguage\.googleapis\.com\/)/i.test(
    address,
  )
}

/** True for the address of an object in Amazon S3. */
export function isS3Place(address: string): boolean {
  return /^s3:\/\/[^/]+\/./.test(address)
}

/** True for an https address, which a vendor may fetch. */
export function isHttpsUrl(address: string): boolean {
  return /^https:\/\//i.test(address)
}

const imageTypes: ReadonlySet<string> = new Set([
  'image/jpeg',
  // Not a registered media type, but common.
  'image/jpg',
  'image/png',
  'image/gif',
  'image/webp',
])

const pdf = 'application/pdf'
const openXml = 'application/vnd.openxmlformats-officedocument'

const documentTypes: ReadonlySet<string> = new Set([
  'text/csv',
  'text/html',
  'text/plain',
  'text/markdown',
  'application/msword',
  'application/vnd.ms-excel',
  `${openXml}.wordprocessingml.document`,
  `${openXml}.spreadsheetml.sheet`,
])

const documentNames = /\.(?:pdf|csv|docx?|xlsx?|html|txt|md)$/i
