import type { ByteSpan } from '../../core/layout.ts'
import { isSpace } from '../../wire/json/codes.ts'
import { tryParseJson } from '../../wire/json/parse.ts'
import { scanLayout } from '../../wire/json/scan.ts'
import { setMember, splice } from '../../wire/json/splice.ts'

/**
 * Writes the model that the path of a request names into its body, in place of the body's own or in
 * addition; all other bytes stay. Returns an invalid body as it is, because its reader refuses it.
 */
export function putModelInBody(bytes: Uint8Array, model: string): Uint8Array {
  if (!startsObject(bytes)) return bytes
  const layout = scanLayout(bytes, ['model'])
  if (!layout.spans.model.every((span) => isModelOrNull(bytes, span))) return bytes
  return splice(bytes, setMember(layout, 'model', JSON.stringify(model)))
}

/** Whether a text could be a JSON object. */
export function startsObject(bytes: Uint8Array): boolean {
  let at = 0
  while (isSpace(bytes[at])) at++
  return bytes[at] === openBrace
}

/** Another value is not replaced, or a text that is not JSON could become a valid body. */
function isModelOrNull(bytes: Uint8Array, { start, end }: ByteSpan): boolean {
  const first = bytes[start]
  if (first !== quote && first !== letterN) return false
  return tryParseJson(bytes.subarray(start, end)) !== undefined
}

const openBrace = 0x7b
const quote = 0x22
const letterN = 0x6e
