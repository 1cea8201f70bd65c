import type { RawChoice } from '../../core/frame.ts'
import { renderResponsesUsage } from '../../core/responses-usage.ts'
import { type ChoiceContent, readChoice } from '../choice.ts'
import type { ServedAnswer } from '../translated-link.ts'
import { ResponseOutput } from './output.ts'
import { type IncompleteReason, newResponseId, renderResponse } from './response.ts'
import type { ToolNames } from './tools.ts'

/** What every answer to one request has. */
export interface AnswerBase {
  /** The text of `renderEcho`. */
  readonly echo: string
  readonly names: ToolNames
}

export interface WholeAnswer extends AnswerBase {
  readonly choices: readonly RawChoice[]
  readonly served: ServedAnswer
  /** Unix seconds. */
  readonly createdAt: number
  readonly completedAt: number
}

const encoder = new TextEncoder()

/** Renders a whole answer of the chat API as a response object. */
export function renderAnswer(answer: WholeAnswer): Uint8Array {
  const { choices, served, echo, names, createdAt, completedAt } = answer
  const id = newResponseId()
  const output = new ResponseOutput({ emit: () => {}, responseId: id, model: served.model, names })
  const choice = choices.find(isFirstChoice)
  const content = choice && readChoice(choice)
  if (content) output.add(numberCalls(content))
  const incompleteReason = findIncompleteReason(content?.finishReason)
  const status = incompleteReason ? 'incomplete' : 'completed'
  const response = renderResponse(
    {
      id,
      createdAt,
      completedAt: incompleteReason ? null : completedAt,
      model: served.model,
      status,
      error: null,
      incompleteReason,
      output: output.finish(status),
      usage: renderResponsesUsage(served.usage),
    },
    echo,
  )
  return encoder.encode(response)
}

/** The calls of a whole message are in order, without indexes. */
function numberCalls(message: ChoiceContent): ChoiceContent {
  return { ...message, calls: message.calls.map((call, index) => ({ ...call, index })) }
}

/** True for the choice of index 0, the only one that this API has. */
export function isFirstChoice({ index }: RawChoice): boolean {
  return index === 0 || index === undefined || index === null
}

/** Maps a finish reason; undefined when the answer is complete. */
export function findIncompleteReason(
  finishReason: string | undefined,
): IncompleteReason | undefined {
  if (finishReason === 'length') return 'max_output_tokens'
  return finishReason === 'content_filter' ? 'content_filter' : undefined
}
