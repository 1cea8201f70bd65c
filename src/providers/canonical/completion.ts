import type { ChatAnswer } from '../../core/provider.ts'
import { type ReportedUsage, renderUsage } from '../../core/usage.ts'
import type { FinishReason } from '../../stream/chunk-writer.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import { joinGeneratedText } from './text.ts'

export interface ToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** The assistant's message of a translated answer. `content` is null when only calls were made. */
export interface CompletionMessage {
  readonly content: string | null
  readonly reasoning_content?: string | undefined
  readonly refusal?: string | null | undefined
  readonly tool_calls?: readonly ToolCall[] | undefined
  /** Fields of a kind's own that must survive a round trip. */
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
  /** Further members of the choice. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
  /** The text that the model has generated, where that is not the text of the message. */
  readonly generated?: string | undefined
}

const encoder = new TextEncoder()

/** The answer of a translated kind, written as the OpenAI API writes it. */
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
  return {
    usage,
    output,
    outputBytes: countUtf8Bytes(output),
    render(judged) {
      const body = {
        id,
        object: 'chat.completion',
        created,
        model,
        choices: choices.map(({ message, finishReason, logprobs = null, extra }, index) => ({
          index,
          message: { role: 'assistant', ...message },
          logprobs,
          finish_reason: finishReason,
          ...extra,
        })),
        usage: renderUsage(judged),
      }
      return encoder.encode(JSON.stringify(body))
    },
  }
}

/** The arguments of a call that a vendor has given as a value, of which this is the text. */
export function normalizeArguments(text: string | undefined): string {
  return text === undefined || text === 'null' ? '{}' : text
}

/** One source of a stretch of the answer, as the OpenAI API tells of sources. */
export interface Annotation {
  readonly type: 'url_citation'
  readonly url_citation: {
    /** Where the stretch begins and ends in the text of the answer, in characters. */
    readonly start_index: number
    readonly end_index: number
    /** The address of the source; empty where it has none. */
    readonly url: string
    readonly title: string
    /** The cited words, and the vendor's id of the source: no members of the OpenAI API. */
    readonly text: string
    readonly source_id: string
  }
}

/** Annotations with their places in the list: some accumulators of streams join lists by `index`. */
export function addIndexes(annotations: readonly Annotation[], from: number): readonly object[] {
  return annotations.map((annotation, at) => ({ index: from + at, ...annotation }))
}
