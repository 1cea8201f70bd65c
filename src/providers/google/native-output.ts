import type { GeminiResponse } from './response.ts'

/** Joins what a model has generated: texts, thoughts, and the names and arguments of calls. */
export function joinOutput({ candidates }: GeminiResponse): string {
  let output = ''
  for (const { content } of candidates ?? []) {
    for (const { text, functionCall: made } of content?.parts ?? []) {
      output += text ?? ''
      if (made) output += (made.name ?? '') + (made.args === '{}' ? '' : made.args)
    }
  }
  return output
}
