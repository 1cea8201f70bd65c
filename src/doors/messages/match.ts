import type { IsUtf8 } from '../../core/ports.ts'
import { sumPromptTokens } from '../../tokens/index.ts'
import type { JsonMatch, MatchedLayout } from '../../wire/json/match.ts'
import {
  anyObject,
  anything,
  arrayOf,
  countedJson,
  countedText,
  countedTextOr,
  flag,
  objectByType,
  objectOf,
  orNull,
  type Shape,
  talliedIn,
  text,
  textWithout,
} from '../../wire/json/shape.ts'
import { measureTools } from '../body-weight.ts'
import { matchRequest } from '../match-request.ts'
import { proofPrefix } from '../proofs.ts'
import { type CountHead, countHead, type MessagesHead, messagesHead } from './schema.ts'

/*
 * Reads the Messages requests that most clients send without parsing them. The shape accepts less than the
 * schema, and counts what `estimatePrompt` counts.
 */

/** Of either form of thinking only this counts. */
const thought = { thinking: orNull(countedText), text: orNull(text) }

/** `content` is that of blocks such as the results of tools. */
function blockWith(content: Shape): Shape {
  const common = { text: orNull(countedText), title: orNull(countedText), content }
  return objectByType(
    {
      tool_use: {
        members: { name: countedText, input: countedJson(anyObject), text: orNull(text) },
        required: ['input'],
      },
      // Without a signature it is not Claude's, which a native link has to know.
      thinking: {
        members: { ...thought, signature: textWithout(proofPrefix) },
        required: ['signature'],
      },
      redacted_thinking: { members: { ...thought, data: textWithout(proofPrefix) } },
    },
    // Images are checked one by one, and documents may hold them. An addition may define a tool.
    {
      otherwise: { members: common },
      without: ['image', 'document', 'tool_addition', 'compaction', 'mid_conv_system'],
    },
  )
}

const innerBlock = blockWith(orNull(countedText))
const block = blockWith(orNull(countedTextOr(arrayOf(innerBlock))))
const content = countedTextOr(arrayOf(block))

const message = objectOf({ role: countedText, content }, ['role', 'content'])

const tool = objectOf({
  type: orNull(text),
  name: orNull(text),
  description: orNull(text),
  strict: orNull(flag),
})

const head = {
  model: text,
  stream: orNull(flag),
  max_tokens: anything,
  tool_choice: anything,
  thinking: anything,
  output_config: anything,
  output_format: anything,
  stop_sequences: anything,
  thread: anything,
  temperature: anything,
  top_p: anything,
  top_k: anything,
}

const members = {
  ...head,
  messages: arrayOf(talliedIn('messages', message), 1),
  system: orNull(talliedIn('system', content)),
  tools: orNull(arrayOf(talliedIn('tools', countedJson(tool)))),
  stream_options: anything,
  metadata: anything,
}

const generation = objectOf(members, ['model', 'messages', 'max_tokens'])
const counting = objectOf(members, ['model', 'messages'])

// The keys of the type.
const headNames = Object.keys(head) as (keyof typeof head)[]

/** What is known of a Messages request that was not parsed. It has neither images nor proofs of the gateway. */
export interface MatchedMessages<Head> {
  readonly layout: MatchedLayout<keyof typeof members>
  readonly head: Head
  readonly promptTokens: number
}

/** Reads a request to generate in its bytes; undefined when only parsing it can tell what it is. */
export function matchMessages(
  bytes: Uint8Array,
  isUtf8: IsUtf8,
): MatchedMessages<MessagesHead> | undefined {
  const asked = { shape: generation, head: headNames, schema: messagesHead, isUtf8 }
  const match = matchRequest(bytes, asked)
  if (!match) return undefined
  const { layout, tallies } = match
  return { layout, head: match.head, promptTokens: estimate(tallies, measureTools(layout)) }
}

/** The same for a request to count. */
export function matchCount(
  bytes: Uint8Array,
  isUtf8: IsUtf8,
): MatchedMessages<CountHead> | undefined {
  const asked = { shape: counting, head: headNames, schema: countHead, isUtf8 }
  const match = matchRequest(bytes, asked)
  if (!match) return undefined
  const { layout, tallies } = match
  return { layout, head: match.head, promptTokens: estimate(tallies) }
}

function estimate(tallies: JsonMatch<string>['tallies'], toolBytes?: number): number {
  const { system = [], messages = [], tools = [] } = tallies
  return sumPromptTokens({
    messages: [...system, ...messages],
    tools: toolBytes === undefined ? tools : [toolBytes],
  })
}
