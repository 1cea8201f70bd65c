import type { ImagePart } from '../../core/chat.ts'
import { isObject } from '../../wire/json/parse.ts'
import type { ResponsesRequest } from './fields.ts'

/** Lists the images of messages and tool outputs, in order. One that a provider stores has no address. */
export function listImages({ input }: ResponsesRequest): readonly ImagePart[] {
  if (!Array.isArray(input)) return []
  return input.flatMap(({ content, output }, index) => [
    ...listInContent(content, `input.${index}.content`),
    ...listInContent(output, `input.${index}.output`),
  ])
}

function listInContent(content: unknown, path: string): readonly ImagePart[] {
  if (!Array.isArray(content)) return []
  return content.flatMap((part: unknown, index) => {
    if (!isObject(part) || part['type'] !== 'input_image') return []
    const { image_url: url, detail } = part
    return [
      {
        url: typeof url === 'string' ? url : '',
        detail: typeof detail === 'string' ? detail : undefined,
        path: `${path}.${index}.image_url`,
      },
    ]
  })
}
