import type { AnswerBody } from '../../core/endpoints.ts'
import type { RawChoice } from '../../core/frame.ts'
import { doneFrame, encodeDataEvent } from '../../stream/chunk-writer.ts'
import { concat } from '../../wire/byte-list.ts'
import { isObject } from '../../wire/json/parse.ts'
import { listChoices } from './call-arguments.ts'

/**
 * Writes a whole answer as a stream, for an upstream that answered a streamed request so: one chunk for each
 * choice, one for the usage, and `[DONE]`.
 */
export function writeAnswerEvents({ value, text }: AnswerBody): Uint8Array {
  const { usage, ...whole } = isObject(value) ? value : {}
  const { object, choices } = whole
  const name = object === 'text_completion' ? object : 'chat.completion.chunk'
  const encode = (members: object) => encodeDataEvent({ ...whole, object: name, ...members })
  const list = Array.isArray(choices) ? listChoices(choices, text) : []
  return concat([
    ...list.map((choice) => encode({ choices: [toChunkChoice(choice)] })),
    ...(isObject(usage) ? [encode({ choices: [], usage })] : []),
    doneFrame.bytes,
  ])
}

/** A choice of text completions has the same form in a chunk. */
function toChunkChoice({ message, ...choice }: RawChoice): object {
  if (!isObject(message)) return choice
  const { tool_calls: calls, ...members } = message
  if (!Array.isArray(calls)) return { ...choice, delta: members }
  const indexed = calls.map((call, index) => ({ index, ...(isObject(call) ? call : {}) }))
  return { ...choice, delta: { ...members, tool_calls: indexed } }
}
