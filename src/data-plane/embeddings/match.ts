import { type EmbedCall, embedHead, WrittenTexts } from '../../core/embeddings.ts'
import type { IsUtf8 } from '../../core/ports.ts'
import type { ModelRoute } from '../../core/route.ts'
import { matchJsonBody } from '../../wire/json/body.ts'
import {
  anything,
  arrayOf,
  countedText,
  countedTextOr,
  objectOf,
  talliedIn,
  text,
} from '../../wire/json/shape.ts'
import { splitBatches } from './batches.ts'
import { maxItems, toCall } from './input.ts'

/*
 * Reads requests whose input is texts without parsing them. The shape accepts less than `readEmbed`, and
 * counts what `estimateItemTokens` counts.
 */

const head = {
  model: text,
  encoding_format: anything,
  dimensions: anything,
  input_type: anything,
}

const item = talliedIn('texts', countedText)

const request = objectOf({ ...head, input: talliedIn('texts', countedTextOr(arrayOf(item, 1))) }, [
  'model',
  'input',
])

// The keys of the type.
const headNames = Object.keys(head) as (keyof typeof head)[]

/** Reads a request in its bytes; undefined when only parsing it can tell what it is. */
export function matchEmbed(bytes: Uint8Array, isUtf8: IsUtf8): EmbedCall | undefined {
  const match = matchJsonBody(bytes, { shape: request, head: headNames, isUtf8 })
  const span = match?.layout.spans.input[0]
  if (!span) return undefined
  const sizes = match.tallies['texts'] ?? []
  // Empty texts are refused.
  if (sizes.length > maxItems || sizes.includes(0)) return undefined
  const checked = embedHead.safeParse(match.head)
  if (!checked.success) return undefined
  return toCall(checked.data, new WrittenTexts(bytes.subarray(span.start, span.end), sizes))
}

/** True if every link gets the texts of a request as the client wrote them, in one batch. */
export function passesAsWritten(call: EmbedCall, { chain }: ModelRoute): boolean {
  return chain.every(
    (link) => link.embed?.takesWrittenTexts === true && splitBatches(call, link).length === 1,
  )
}
