import { isObject } from '../../wire/json/parse.ts'

/** Joins the text that the model has generated in the output of a response, reasoning and calls included. */
export function joinOutputTexts(output: readonly unknown[]): string {
  return output.filter(isObject).map(joinItemTexts).join('')
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
