import type { RawChoice } from '../../core/frame.ts'
import { renderResponsesUsage } from '../../core/responses-usage.ts'
import type { Steps } from '../../core/steps.ts'
import { readChoice } from '../choice.ts'
import type { ServedAnswer } from '../translated-link.ts'
import { repairCharacters } from '../whole-characters.ts'
import { ResponseOutput } from './output.ts'
import { type IncompleteReason, newResponseId, renderPieces } from './response.ts'
import type { ToolIdentities } from './tools.ts'

/** What every answer to one request has. */
export interface AnswerBase {
  /** The text of `renderEcho`. */
  readonly echo: string
  readonly names: ToolIdentities
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
export function* renderAnswer(answer: WholeAnswer): Steps<Uint8Array> {
  const { choices, served, echo, names, createdAt, completedAt } = answer
  const id = newResponseId()
  const output = new ResponseOutput({ emit: () => {}, responseId: id, model: served.model, names })
  const choice = choices.find(isFirstChoice)
  const content = choice && repairCharacters(readChoice(choice))
  yield
  if (content) yield* output.addInSteps(content)
  const incompleteReason = findIncompleteReason(content?.finishReason)
  const status = incompleteReason ? 'incomplete' : 'completed'
  yield* output.finish(status)
  const pieces = renderPieces(
    {
      id,
      createdAt,
      completedAt: incompleteReason ? null : completedAt,
      model: served.model,
      status,
      error: null,
      incompleteReason,
      output: output.render(),
      usage: renderResponsesUsage(served.usage),
      tier: served.usage.billing?.tier,
    },
    echo,
  )
  let response = ''
  for (const piece of pieces) {
    response += piece
    yield
  }
  return encoder.encode(response)
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
