import type { ImagePart } from '../../core/chat.ts'
import { isObject } from '../../wire/json/parse.ts'
import type { CountRequest } from './schema.ts'

/** The beginning of a reference to Anthropic's file store, as chat requests write it. */
export const filePrefix = 'anthropic-file:'

/** Lists the images of a request in order: those of messages, tool results and documents. */
export function listImages({ messages }: CountRequest): readonly ImagePart[] {
  const images: ImagePart[] = []
  messages.forEach(({ content }, index) => {
    addImages(content, `messages.${index}.content`, images)
  })
  return images
}

function addImages(content: unknown, path: string, images: ImagePart[]): void {
  if (!Array.isArray(content)) return
  content.forEach((block: unknown, index) => {
    if (isObject(block)) addBlockImages(block, { path, index, images })
  })
}

interface Place {
  readonly path: string
  readonly index: number
  readonly images: ImagePart[]
}

function addBlockImages(
  { type, source, content }: Readonly<Record<string, unknown>>,
  { path, index, images }: Place,
): void {
  switch (type) {
    case 'image':
      images.push({
        url: describeSource(source),
        detail: undefined,
        path: `${path}.${index}.source`,
      })
      return
    case 'tool_result':
      return addImages(content, `${path}.${index}.content`, images)
    case 'document':
      if (!isObject(source)) return
      return addImages(source['content'], `${path}.${index}.source.content`, images)
  }
}

/** Returns the address of an image. Inline data is only named, because a copy could be large. */
function describeSource(source: unknown): string {
  if (!isObject(source)) return ''
  const { type, url, file_id: id } = source
  if (type === 'url' && typeof url === 'string') return url
  return type === 'file' && typeof id === 'string' ? `${filePrefix}${id}` : 'data:'
}
