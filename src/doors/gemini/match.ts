import type { IsUtf8 } from '../../core/ports.ts'
import { sumPromptTokens } from '../../tokens/index.ts'
import { matchJsonBody } from '../../wire/json/body.ts'
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
  type MemberShapes,
  type ObjectShape,
  objectOf,
  orNull,
  talliedIn,
  text,
  textWithout,
} from '../../wire/json/shape.ts'
import {
  contentMembers,
  countMembers,
  declarationMembers,
  type Members,
  partMembers,
  toolMembers,
} from './members.ts'
import { type GeminiHead, readHead } from './schema.ts'
import { ownSignatureStart } from './signatures.ts'
import { listSpellings } from './spelling.ts'

/*
 * Reads the Gemini requests that most clients send without parsing them. The shape accepts less than the schema,
 * and counts what `estimatePrompt` counts. Members in another spelling than camel case are left to the parser.
 */

/** An object with its members in camel case. Those without a shape may be anything. */
function inCamelCase<const Shapes extends MemberShapes>(
  names: Members,
  shapes: Shapes,
  required: readonly (keyof Shapes & string)[] = [],
): ObjectShape<keyof Shapes & string> {
  const known = Object.keys(names)
  const others = known.flatMap((name) => listSpellings(name).slice(1))
  const all = {
    ...Object.fromEntries(known.map((name) => [name, anything])),
    ...Object.fromEntries(others.map((name) => [name, absent])),
    ...shapes,
  }
  // Has the members of the type, and more.
  return objectOf(all, required) as ObjectShape<keyof Shapes & string>
}

const nothing = orNull(absent)
const ownText = orNull(text)
const ranByVendor = orNull(countedJson(anyObject))

const call = objectOf({ id: ownText, name: orNull(countedText), args: countedJson(anyObject) }, [
  'args',
])

const result = objectOf(
  // The parts are media, which are checked one by one.
  { id: ownText, name: ownText, response: countedJson(anyObject), parts: absent },
  ['response'],
)

const part = inCamelCase(partMembers, {
  text: orNull(countedText),
  thought: orNull(flag),
  // A signature of the gateway is replaced.
  thoughtSignature: orNull(textWithout(ownSignatureStart)),
  inlineData: nothing,
  fileData: nothing,
  functionCall: orNull(call),
  functionResponse: orNull(result),
  executableCode: ranByVendor,
  codeExecutionResult: ranByVendor,
  toolCall: ranByVendor,
  toolResponse: ranByVendor,
})

const content = inCamelCase(contentMembers, {
  role: orNull(countedText),
  parts: orNull(arrayOf(part)),
})

const declaration = inCamelCase(declarationMembers, { name: ownText, description: ownText })

const tool = inCamelCase(toolMembers, { functionDeclarations: orNull(arrayOf(declaration)) })

/** Each of the members that decide the cost may occur once. The others are checked when they are parsed. */
const generationConfig = objectOf(
  Object.fromEntries(
    ['maxOutputTokens', 'candidateCount'].flatMap((name) => [
      [name, anything],
      ...listSpellings(name)
        .slice(1)
        .map((other) => [other, absent]),
    ]),
  ),
)

const request = inCamelCase(
  countMembers,
  {
    model: anything,
    stream_options: anything,
    contents: arrayOf(talliedIn('messages', content), 1),
    systemInstruction: orNull(talliedIn('messages', countedTextOr(content))),
    system_instruction: absent,
    tools: orNull(arrayOf(talliedIn('tools', countedJson(tool)))),
    toolConfig: anything,
    generationConfig: orNull(generationConfig),
    generation_config: absent,
    serviceTier: anything,
    service_tier: absent,
    cachedContent: anything,
    labels: anything,
    store: anything,
    generateContentRequest: absent,
  },
  ['contents'],
)

const headNames = ['toolConfig', 'generationConfig', 'serviceTier', 'cachedContent'] as const

/** What is known of a Gemini request that was not parsed. It has neither media nor signatures of the gateway. */
export interface MatchedGemini {
  readonly layout: MatchedLayout<keyof (typeof request)['noSpans']>
  readonly head: GeminiHead
  readonly promptTokens: number
}

/** Reads a request to generate in its bytes; undefined when only parsing it can tell what it is. */
export function matchGemini(bytes: Uint8Array, isUtf8: IsUtf8): MatchedGemini | undefined {
  const match = matchJsonBody(bytes, { shape: request, head: headNames, isUtf8 })
  const head = match && readHead(match.head)
  if (!head) return undefined
  const { layout, tallies } = match
  const { messages = [], tools = [] } = tallies
  return { layout, head, promptTokens: sumPromptTokens({ messages, tools }) }
}
