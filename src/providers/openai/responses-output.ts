import { isObject } from '../../wire/json/parse.ts'

/** Joins the text that the model has generated in the output of a response, reasoning and calls included. */
export function joinOutputTexts(output: readonly unknown[]): string {
  return output.filter(isObject).map(joinItemTexts).join('')
}

/** True for a response that the vendor's content filter has ended. */
export function isFilteredResponse(response: unknown): boolean {
  const details = isObject(response) ? response['incomplete_details'] : undefined
  return isObject(details) && details['reason'] === 'content_filter'
}

function joinItemTexts(item: Readonly<Record<string, unknown>>): string {
  const { name, arguments: args, input, summary, content } = item
  return [name, args, input].map(toText).join('') + joinParts(summary) + joinParts(content)
}

function joinParts(parts: unknown): string {
  if (!Array.isArray(parts)) return ''
  return parts
    .filter(isObject)
    .map(({ text, refusal }) => toText(text) + toText(refusal))
    .join('')
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
