import type { ContentPart } from '../../core/chat.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { isObject } from '../../wire/json/parse.ts'
import type { RequestProofs } from '../request-proofs.ts'
import type { ChatTarget } from '../translated-link.ts'
import { type Block, blockSchemas, type Content, checkPart, type MediaSource } from './schema.ts'

/** A part of a chat message, and the path of the block that it comes from. */
export interface PlacedPart {
  readonly part: ContentPart
  readonly path: string
  /** A block between it and the part before it is not in the message. */
  readonly isApart?: boolean
}

/** A block of a message, and its path. */
export interface PlacedBlock {
  readonly block: Block
  readonly path: string
}

export interface ConversationOptions {
  readonly target: ChatTarget
  /** Returns the exact JSON text of the `input` of a call. */
  readonly readInput: (path: string) => string
  readonly proofs: RequestProofs
}

/** Writes a content as the parts of a chat message. Blocks that only Claude's API has are left out. */
export function toParts(content: Content, path: string, target: ChatTarget): PlacedPart[] {
  if (typeof content === 'string') return content === '' ? [] : [placeText(content, path)]
  return content.flatMap((block, index) => toBlockParts(block, `${path}.${index}`, target))
}

/** Writes one block as parts. */
export function toBlockParts(block: Block, path: string, target: ChatTarget): PlacedPart[] {
  const parts = writeBlock(block, path, target)
  const mark = readCacheControl(block, target)
  const last = parts.at(-1)
  if (!mark || !last) return parts
  return [...parts.slice(0, -1), { path: last.path, part: { ...last.part, ...mark } }]
}

function writeBlock(block: Block, path: string, target: ChatTarget): PlacedPart[] {
  switch (block.type) {
    case 'text':
      return block.text ? [placeText(block.text, path)] : []
    case 'image': {
      const { source } = checkPart(blockSchemas.image, block, path)
      return [{ path, part: { type: 'image_url', image_url: { url: toImageUrl(source, path) } } }]
    }
    case 'document': {
      const { source, title, context } = checkPart(blockSchemas.document, block, path)
      return toDocumentParts({ source, title, context, path, target })
    }
    case 'search_result': {
      const { source, title, content } = checkPart(blockSchemas.search_result, block, path)
      const texts = toParts(content ?? [], `${path}.content`, target).map(({ part }) => part.text)
      const text = joinTexts([title, source, ...texts])
      return text === '' ? [] : [placeText(text, path)]
    }
    case 'tool_reference': {
      const { tool_name: name } = checkPart(blockSchemas.tool_reference, block, path)
      return [placeText(name, path)]
    }
    default:
      // Results of vendor-run tools and types that are newer than this code.
      return []
  }
}

function placeText(text: string, path: string): PlacedPart {
  return { path, part: { type: 'text', text } }
}

/** Joins texts that stand on their own, such as the blocks of a user's message. */
export function joinTexts(texts: readonly (string | null | undefined)[]): string {
  return texts.filter(Boolean).join('\n\n')
}

function toImageUrl(source: MediaSource, path: string): string {
  return toAddress(source, `${path}.source`)
}

/** Returns a data URI or an address. A stored file exists only at the vendor that stores it. */
function toAddress({ type, media_type: mediaType, data, url }: MediaSource, path: string): string {
  switch (type) {
    case 'base64':
      if (!mediaType) throw missing(`${path}.media_type`)
      if (!data) throw missing(`${path}.data`)
      return `data:${mediaType};base64,${data}`
    case 'url':
      if (!url) throw missing(`${path}.url`)
      return url
    default:
      throw new UntranslatableError(`${path}: only the Messages API has this type of source`, path)
  }
}

function missing(path: string): UntranslatableError {
  return new UntranslatableError(`${path} is required`, path)
}

interface DocumentBlock {
  readonly source: MediaSource
  readonly title: string | null | undefined
  readonly context: string | null | undefined
  readonly path: string
  readonly target: ChatTarget
}

/** Writes a document: text as text, with its title and context in front, and any other data as a file. */
function toDocumentParts(document: DocumentBlock): PlacedPart[] {
  const { source, title, context, path, target } = document
  const heading = joinTexts([title, context])
  switch (source.type) {
    case 'text': {
      const text = joinTexts([heading, source.data])
      return text === '' ? [] : [placeText(text, path)]
    }
    case 'content': {
      const inner = toParts(source.content ?? [], `${path}.source.content`, target)
      return heading === '' ? inner : [placeText(heading, path), ...inner]
    }
    default: {
      if (source.type === 'url' && !target.takesFileAddresses) {
        const rule =
          'the API of this model takes no document by its address; send the data as base64'
        throw new UntranslatableError(`${path}.source: ${rule}`, `${path}.source`)
      }
      const file = {
        filename: title || 'document.pdf',
        file_data: toAddress(source, `${path}.source`),
      }
      const about: PlacedPart[] = context ? [placeText(context, path)] : []
      return [...about, { path, part: { type: 'file', file } }]
    }
  }
}

type CacheMark = { readonly cache_control: object }

/** Returns the `cache_control` of a block or a tool, for a target that has it. */
export function readCacheControl(
  marked: Readonly<Record<string, unknown>>,
  { takesCacheControl }: ChatTarget,
): CacheMark | undefined {
  const { cache_control: control } = marked
  return takesCacheControl && isObject(control) ? { cache_control: control } : undefined
}

/**
 * Returns parts as the content of a message: one text where all parts are texts, because some servers
 * accept only that. A target with cache marks gets several texts, and texts with a mark, as parts.
 */
export function toContent(
  parts: readonly PlacedPart[],
  { takesCacheControl }: ChatTarget,
  join: (parts: readonly PlacedPart[]) => string = joinParts,
): string | ContentPart[] {
  const isText = parts.every(({ part }) => part.type === 'text')
  const keepsParts = takesCacheControl && (parts.length > 1 || parts.some(isMarked))
  return isText && !keepsParts ? join(parts) : parts.map(({ part }) => part)
}

function joinParts(parts: readonly PlacedPart[]): string {
  return joinTexts(parts.map(({ part }) => part.text))
}

function isMarked({ part }: PlacedPart): boolean {
  return 'cache_control' in part
}
