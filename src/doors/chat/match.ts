import { type ChatHead, chatHead } from '../../core/chat.ts'
import type { IsUtf8 } from '../../core/ports.ts'
import { sumPromptTokens } from '../../tokens/index.ts'
import type { MatchedLayout } from '../../wire/json/match.ts'
import {
  absent,
  anyObject,
  anything,
  arrayOf,
  countedJson,
  countedText,
  countedTextOr,
  flag,
  number,
  objectOf,
  orNull,
  talliedIn,
  text,
} from '../../wire/json/shape.ts'
import { measureTools } from '../body-weight.ts'
import { matchRequest } from '../match-request.ts'

/*
 * Reads the chat requests that most clients send without parsing them. The shape accepts less than the
 * schema in `core/chat.ts`, and counts what `estimatePromptTokens` counts.
 */

const part = objectOf({
  type: text,
  text: orNull(countedText),
  // Images are checked one by one.
  image_url: absent,
})

const called = objectOf({ name: orNull(countedText), arguments: orNull(countedText) })

const message = objectOf(
  {
    role: countedText,
    content: orNull(countedTextOr(arrayOf(part))),
    name: orNull(countedText),
    tool_calls: orNull(arrayOf(objectOf({ function: orNull(called) }))),
    // A vendor's own blocks count in place of the rest.
    provider_content: absent,
  },
  ['role'],
)

const head = {
  model: text,
  stream: orNull(flag),
  stream_options: orNull(anyObject),
  max_tokens: orNull(number),
  max_completion_tokens: orNull(number),
  max_output_tokens: orNull(number),
  n: orNull(number),
  logprobs: orNull(flag),
}

const request = objectOf(
  {
    ...head,
    messages: arrayOf(talliedIn('messages', message), 1),
    tools: orNull(arrayOf(talliedIn('tools', countedJson(anyObject)))),
    prompt_cache_key: anything,
  },
  ['model', 'messages'],
)

/** The members of a chat request that stay when the others are dropped. */
// The keys of the type.
export const headNames = Object.keys(head) as (keyof typeof head)[]

/** What is known of a chat request that was not parsed. It has no images. */
export interface MatchedChat {
  readonly bytes: Uint8Array
  readonly layout: MatchedLayout<keyof (typeof request)['noSpans']>
  readonly head: ChatHead
  readonly promptTokens: number
}

/** Reads a chat request in its bytes; undefined when only parsing it can tell what it is. */
export function matchChat(bytes: Uint8Array, isUtf8: IsUtf8): MatchedChat | undefined {
  const match = matchRequest(bytes, { shape: request, head: headNames, schema: chatHead, isUtf8 })
  if (!match) return undefined
  const { layout, tallies } = match
  const { messages = [], tools = [] } = tallies
  const toolBytes = measureTools(layout)
  const promptTokens = sumPromptTokens({
    messages,
    tools: toolBytes === undefined ? tools : [toolBytes],
  })
  return { bytes, layout, head: match.head, promptTokens }
}
