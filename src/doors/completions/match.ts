import type { IsUtf8 } from '../../core/ports.ts'
import type { MatchedLayout } from '../../wire/json/match.ts'
import {
  anyObject,
  anything,
  arrayOf,
  countedText,
  countedTextOr,
  flag,
  number,
  objectOf,
  orNull,
  talliedIn,
  text,
} from '../../wire/json/shape.ts'
import { matchRequest } from '../match-request.ts'
import { measurePrompts, type PromptSize } from './estimate.ts'
import { type CompletionHead, completionHead } from './fields.ts'
import { noPrompt } from './prompts.ts'

/*
 * Reads the requests whose prompts are texts without parsing them. The shape accepts less than the schema,
 * and counts what `measurePrompts` counts.
 */

const prompt = talliedIn('prompts', countedText)

const head = {
  model: text,
  stream: orNull(flag),
  stream_options: orNull(anyObject),
  max_tokens: orNull(number),
  max_completion_tokens: orNull(number),
  max_output_tokens: orNull(number),
  n: orNull(number),
  best_of: orNull(number),
}

const request = objectOf(
  {
    ...head,
    prompt: orNull(talliedIn('prompts', countedTextOr(arrayOf(prompt, 1)))),
    suffix: orNull(talliedIn('suffix', countedText)),
    prompt_cache_key: anything,
  },
  ['model'],
)

// The keys of the type.
const headNames = Object.keys(head) as (keyof typeof head)[]

/** What is known of a text completion request that was not parsed. */
export interface MatchedCompletion {
  readonly layout: MatchedLayout<keyof (typeof request)['noSpans']>
  readonly head: CompletionHead
  readonly size: PromptSize
}

/** Reads a request in its bytes; undefined when only parsing it can tell what it is. */
export function matchCompletion(bytes: Uint8Array, isUtf8: IsUtf8): MatchedCompletion | undefined {
  const asked = { shape: request, head: headNames, schema: completionHead, isUtf8 }
  const match = matchRequest(bytes, asked)
  if (!match) return undefined
  const { layout, tallies } = match
  const { prompts, suffix } = tallies
  return { layout, head: match.head, size: toSize(prompts, suffix?.[0]) }
}

function toSize(prompts: readonly number[] | undefined, suffix = 0): PromptSize {
  if (!prompts) return { ...measurePrompts(noPrompt), suffix }
  return { count: prompts.length, texts: prompts, tokenIds: 0, suffix }
}
