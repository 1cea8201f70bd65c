import type { ChatAnswer } from '../../core/endpoints.ts'
import { runAtOnce, type Steps } from '../../core/steps.ts'
import { type ReportedUsage, renderTier, renderUsage, type Usage } from '../../core/usage.ts'
import type { FinishReason } from '../../stream/chunk-writer.ts'
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
  function* renderInSteps(resolved: Usage): Steps<Uint8Array> {
    const body = {
      id,
      object: 'chat.completion',
      created,
      model,
      choices: rendered,
      usage: renderUsage(resolved),
      ...renderTier(resolved),
    }
    const json = stringifyJson(body)
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
    render: (resolved) => runAtOnce(renderInSteps(resolved)),
    renderInSteps,
  }
}

/** Returns the arguments of a tool call as JSON text, from a vendor that sends a JSON value. */
export function normalizeArguments(text: string | undefined): string {
  return text === undefined || text === 'null' ? '{}' : text
}
