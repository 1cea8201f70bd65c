import type { ChatAnswer } from '../../core/endpoints.ts'
import type { Steps } from '../../core/steps.ts'
import { type ReportedUsage, renderTier, renderUsage, type Usage } from '../../core/usage.ts'
import type { FinishReason } from '../../stream/chunk-writer.ts'
import { isObject } from '../../wire/json/parse.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import { joinGeneratedText } from './text.ts'

export interface ToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** The assistant message of a translated answer. `content` is null when it has only tool calls. */
export interface CompletionMessage {
  readonly content: string | null
  readonly reasoning_content?: string | undefined
  readonly refusal?: string | null | undefined
  readonly tool_calls?: readonly ToolCall[] | undefined
  /** Fields specific to a kind that must survive a round trip. */
  readonly [extra: string]: unknown
}

export interface Completion {
  readonly id: string
  /** Unix seconds. */
  readonly created: number
  /** The client-facing id of the model that served. */
  readonly model: string
  readonly choices: readonly CompletionChoice[]
  readonly usage: ReportedUsage | undefined
}

export interface CompletionChoice {
  readonly message: CompletionMessage
  readonly finishReason: FinishReason
  readonly logprobs?: unknown
  /** Additional members of the choice. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
  /** The generated text when it differs from the text of the message. */
  readonly generated?: string | undefined
}

const encoder = new TextEncoder()

/** Creates the answer of a translated kind in the OpenAI format. */
export function createCompletionAnswer({
  id,
  created,
  model,
  choices,
  usage,
}: Completion): ChatAnswer {
  const output = choices
    .map(({ message, generated }) => generated ?? joinGeneratedText(message))
    .join('')
  const rendered = choices.map(({ message, finishReason, logprobs = null, extra }, index) => ({
    index,
    message: { role: 'assistant', ...message },
    logprobs,
    finish_reason: finishReason,
    ...extra,
  }))
  const toBody = (resolved: Usage) => ({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: rendered,
    usage: renderUsage(resolved),
    ...renderTier(resolved),
  })
  function* renderInSteps(resolved: Usage): Steps<Uint8Array> {
    const json = yield* stringifyInSteps(toBody(resolved), membersOfMessage)
    yield
    return encoder.encode(json)
  }
  return {
    choices: rendered,
    usage,
    output,
    outputBytes: countUtf8Bytes(output),
    isFiltered:
      output === '' && rendered.every((choice) => choice.finish_reason === 'content_filter'),
    render: (resolved) => encoder.encode(stringifyJson(toBody(resolved))),
    renderInSteps,
  }
}

/** How deep the members of the message of a choice are. */
const membersOfMessage = 4

/** Writes JSON as `stringifyJson` does, and can be interrupted between the values down to a depth. */
function* stringifyInSteps(value: unknown, depth: number): Steps<string> {
  const isList = Array.isArray(value)
  if (depth === 0 || (!isList && !isPlain(value))) {
    yield
    // Each value of a body has a form in JSON, not only objects.
    return stringifyJson(value as object)
  }
  const written: string[] = []
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    const json = yield* stringifyInSteps(member, depth - 1)
    written.push(isList ? json : `${JSON.stringify(name)}:${json}`)
  }
  return isList ? `[${written.join(',')}]` : `{${written.join(',')}}`
}

/** False for an object that decides itself what it is in JSON. */
function isPlain(value: unknown): value is object {
  return isObject(value) && Object.getPrototypeOf(value) === Object.prototype
}

/** Returns the arguments of a tool call as JSON text, from a vendor that sends a JSON value. */
export function normalizeArguments(text: string | undefined): string {
  return text === undefined || text === 'null' ? '{}' : text
}
