import * as z from 'zod'
import { list, loose, validateAsSent } from '../../core/as-sent.ts'
import type { ContentPart } from '../../core/chat.ts'
import { untranslatableField } from '../../core/invalid-field.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { isObject } from '../../wire/json/parse.ts'
import type { PlacedPart } from './conversation.ts'

const text = z.string().nullish()

const contentPart = loose({
  type: z.string(),
  text,
  refusal: text,
  image_url: text,
  detail: text,
  file_id: text,
  file_data: text,
  file_url: text,
  filename: text,
  input_audio: loose({}).nullish(),
})

/** The content of a message, and the output of a tool: a text or a list of parts. */
export const itemContent = z.union([z.string(), list(contentPart)])
export type ItemContent = z.infer<typeof itemContent>
type Part = z.infer<typeof contentPart>

/** Converts content to parts of the chat API. Throws `UntranslatableError` for a part that it lacks. */
export function toChatParts(content: ItemContent, path: string): PlacedPart[] {
  if (typeof content === 'string') return [{ part: { type: 'text', text: content }, path }]
  return content.map((part, index) => toChatPart(part, `${path}.${index}`))
}

/** Returns the texts of content that can have only text. Throws `UntranslatableError` for another part. */
export function toTexts(content: ItemContent, path: string): string[] {
  return toChatParts(content, path).map(({ part, path: place }) => {
    if (part.type === 'text') return part.text ?? ''
    throw new UntranslatableError(`${place}: a message of the model can hold only text`, place)
  })
}

function toChatPart(part: Part, path: string): PlacedPart {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { part: { type: 'text', text: requireText(part.text, `${path}.text`) }, path }
    case 'refusal':
      return { part: { type: 'text', text: requireText(part.refusal, `${path}.refusal`) }, path }
    case 'input_image':
      return { part: toChatImage(part, path), path }
    case 'input_file':
      return { part: toChatFile(part, path), path }
    case 'input_audio':
      return { part: { type: 'input_audio', input_audio: part.input_audio ?? {} }, path }
    default:
      throw onlyNative(`${path}.type`, 'parts of this type')
  }
}

function toChatImage({ image_url: url, detail }: Part, path: string): ContentPart {
  if (!url) throw onlyNative(`${path}.image_url`, 'images without an image_url')
  return { type: 'image_url', image_url: { url, ...(isDetail(detail) && { detail }) } }
}

/** The chat API has no `original`. */
function isDetail(detail: string | null | undefined): detail is string {
  return detail === 'low' || detail === 'high' || detail === 'auto'
}

/** The chat API has one member for the data and the address, which not every target takes. */
function toChatFile({ file_data, file_id, file_url, filename }: Part, path: string): ContentPart {
  const data = file_data || file_url
  if (!data && !file_id) {
    const rule = 'needs file_data, file_url or file_id'
    throw new UntranslatableError(`${path} ${rule}`, path)
  }
  return {
    type: 'file',
    file: {
      ...(data && { file_data: data }),
      ...(file_id && { file_id }),
      ...(filename && { filename }),
    },
  }
}

/** Whether a part is a file by its address. */
export function isFileAddress({ type, file }: ContentPart): boolean {
  const data = type === 'file' && isObject(file) ? file['file_data'] : undefined
  return typeof data === 'string' && /^[a-z][\da-z+.-]*:\/\//i.test(data)
}

/** Returns the error for what only a provider of this API can be sent. */
export function onlyNative(path: string, what: string): UntranslatableError {
  return new UntranslatableError(
    `${path}: ${what} need a provider that speaks the Responses API itself`,
    path,
  )
}

function requireText(value: string | null | undefined, path: string): string {
  if (value === undefined || value === null) {
    throw new UntranslatableError(`${path} is required`, path)
  }
  return value
}

/** Validates a part of the request that only translated links read. */
export function parseFields<Value>(schema: z.ZodType<Value>, value: unknown, path: string): Value {
  const parsed = validateAsSent(schema, value)
  if (!parsed.success) throw untranslatableField(parsed.error, path)
  return parsed.data
}
