import type { IsUtf8 } from '../../core/ports.ts'
import type { MatchedLayout } from '../../wire/json/match.ts'
import {
  anyObject,
  anything,
  arrayOf,
  countedJson,
  countedText,
  countedTextOr,
  flag,
  number,
  objectByType,
  objectOf,
  orNull,
  talliedIn,
  text,
  textWithout,
} from '../../wire/json/shape.ts'
import { measureTools } from '../body-weight.ts'
import { matchRequest } from '../match-request.ts'
import { proofPrefix } from '../proofs.ts'
import { sumSize } from './estimate.ts'
import { type ResponsesHead, responsesHead } from './fields.ts'

/*
 * Reads the requests that most clients of the Responses API send without parsing them. The shape accepts less
 * than the schema, and counts what `estimatePrompt` counts.
 */

const part = objectByType(
  {},
  {
    otherwise: { members: { text: orNull(countedText), refusal: orNull(countedText) } },
    // Images are checked one by one.
    without: ['input_image'],
  },
)

const content = orNull(countedTextOr(arrayOf(part)))

const item = objectOf(
  {
    role: orNull(countedText),
    content,
    summary: orNull(arrayOf(objectOf({ text: orNull(countedText) }))),
    name: orNull(countedText),
    arguments: orNull(countedTextOr(countedJson(anyObject))),
    input: orNull(countedText),
    output: content,
    tools: orNull(countedJson(arrayOf(anyObject))),
    encrypted_content: textWithout(proofPrefix),
  },
  [],
  // Only reasoning has a summary, and what is not encrypted may not reach every upstream.
  { summary: ['encrypted_content'] },
)

const head = {
  model: text,
  stream: orNull(flag),
  max_output_tokens: orNull(number),
}

const request = objectOf(
  {
    ...head,
    input: orNull(talliedIn('text', countedTextOr(arrayOf(talliedIn('items', item))))),
    instructions: orNull(talliedIn('instructions', countedText)),
    tools: orNull(arrayOf(talliedIn('tools', countedJson(anyObject)))),
    stream_options: anything,
    prompt_cache_key: anything,
  },
  ['model'],
)

// The keys of the type.
const headNames = Object.keys(head) as (keyof typeof head)[]

/**
 * What is known of a request that was not parsed. It has neither images nor reasoning of the gateway, nor any that is
 * plain text.
 */
export interface MatchedResponses {
  readonly layout: MatchedLayout<keyof (typeof request)['noSpans']>
  readonly head: ResponsesHead
  readonly promptTokens: number
}

/** Reads a request in its bytes; undefined when only parsing it can tell what it is. */
export function matchResponses(bytes: Uint8Array, isUtf8: IsUtf8): MatchedResponses | undefined {
  const asked = { shape: request, head: headNames, schema: responsesHead, isUtf8 }
  const match = matchRequest(bytes, asked)
  if (!match) return undefined
  const { layout, tallies } = match
  const toolBytes = measureTools(layout)
  const promptTokens = sumSize({
    instructions: tallies['instructions']?.[0],
    text: tallies['text']?.[0],
    items: tallies['items'] ?? [],
    tools: toolBytes === undefined ? (tallies['tools'] ?? []) : [toolBytes],
  })
  return { layout, head: match.head, promptTokens }
}
