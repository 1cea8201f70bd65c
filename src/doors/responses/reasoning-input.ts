import * as z from 'zod'
import { loose } from '../../core/as-sent.ts'
import { isObject } from '../../wire/json/parse.ts'
import type { Item } from './fields.ts'

/** The fields of an item of reasoning that are checked for every translated link. */
export const reasoningItemFields = loose({ encrypted_content: z.string().nullish() })

/** True for reasoning that is plain text, as models without encryption write it. */
export function isUnsignedItem({ type, summary, encrypted_content: content }: Item): boolean {
  return type === 'reasoning' && (content ?? '') === '' && (summary ?? undefined) !== undefined
}

/**
 * Returns the text of an item of reasoning: all of it where the item has it, else the summary.
 * https://platform.openai.com/docs/api-reference/responses/object
 */
export function readReasoningText({ content, summary }: Item): string {
  return joinTexts(content, '') || joinTexts(summary, '\n\n')
}

function joinTexts(parts: unknown, separator: string): string {
  if (!Array.isArray(parts)) return ''
  const texts = parts.map((part) => (isObject(part) ? part['text'] : undefined))
  return texts.filter((text) => typeof text === 'string').join(separator)
}
