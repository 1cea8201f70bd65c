import type { AnswerBody } from '../../core/endpoints.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { extractTexts } from '../../wire/json/text.ts'
import { keepJson, writeEvent } from '../base/answer-events.ts'

/** An event before it has its number. */
interface UnnumberedEvent extends JsonObject {
  readonly type: string
}

/**
 * Writes a whole response as a stream, for an upstream that answered a streamed request so.
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
export function writeResponseEvents({ value, text }: AnswerBody): Uint8Array {
  const response = isObject(value) ? value : {}
  const { status, output } = response
  const items = Array.isArray(output) ? output : []
  const texts = extractTexts(text, 'output.*')
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const type = status === 'incomplete' ? 'response.incomplete' : 'response.completed'
  const events: readonly UnnumberedEvent[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.flatMap((item, index) =>
      isObject(item) ? listItemEvents(item, index, texts.get(`output.${index}`)) : [],
    ),
    { type, response: keepJson(text, response) },
  ]
  const numbered = events.map(({ type: name, ...members }, number) =>
    writeEvent({ type: name, sequence_number: number, ...members }, name),
  )
  return new TextEncoder().encode(numbered.join(''))
}

function listItemEvents(
  item: JsonObject,
  index: number,
  json: string | undefined,
): readonly UnnumberedEvent[] {
  const at = { output_index: index }
  const { opened, pieces } = splitItem(item, { item_id: item['id'], ...at })
  return [
    { type: 'response.output_item.added', ...at, item: opened ?? keepJson(json, item) },
    ...pieces,
    { type: 'response.output_item.done', ...at, item: keepJson(json, item) },
  ]
}

interface SplitItem {
  /** The item before its pieces; undefined where it comes whole. */
  readonly opened: JsonObject | undefined
  readonly pieces: readonly UnnumberedEvent[]
}

function splitItem(item: JsonObject, place: JsonObject): SplitItem {
  const { type, content, summary } = item
  switch (type) {
    case 'message':
      return {
        opened: { ...item, status: 'in_progress', content: [] },
        pieces: listObjects(content).flatMap((part, at) =>
          listPartEvents(part, { ...place, content_index: at }),
        ),
      }
    case 'function_call':
      return splitCall(item, place, 'arguments', 'response.function_call_arguments')
    case 'custom_tool_call':
      return splitCall(item, place, 'input', 'response.custom_tool_call_input')
    case 'reasoning':
      return {
        opened: { ...item, summary: [], ...(content !== undefined && { content: [] }) },
        pieces: [
          ...listObjects(summary).flatMap((part, at) =>
            listSummaryEvents(part, { ...place, summary_index: at }),
          ),
          ...listObjects(content).flatMap(({ text }, at) =>
            listTextEvents('response.reasoning_text', 'text', text, {
              ...place,
              content_index: at,
            }),
          ),
        ],
      }
    default:
      return { opened: undefined, pieces: [] }
  }
}

function splitCall(
  item: JsonObject,
  place: JsonObject,
  member: 'arguments' | 'input',
  type: string,
): SplitItem {
  return {
    opened: { ...item, status: 'in_progress', [member]: '' },
    pieces: listTextEvents(type, member, item[member], place),
  }
}

function listPartEvents(part: JsonObject, place: JsonObject): readonly UnnumberedEvent[] {
  const { type, text, refusal, annotations, logprobs } = part
  const isRefusal = type === 'refusal'
  const empty = isRefusal ? { ...part, refusal: '' } : { ...part, text: '', annotations: [] }
  const pieces = isRefusal
    ? listTextEvents('response.refusal', 'refusal', refusal, place)
    : listTextEvents('response.output_text', 'text', text, { ...place, logprobs: logprobs ?? [] })
  const [delta, done] = pieces
  return [
    { type: 'response.content_part.added', ...place, part: empty },
    ...(delta && done ? [delta] : []),
    ...listObjects(annotations).map((annotation, at) => ({
      type: 'response.output_text.annotation.added',
      ...place,
      annotation_index: at,
      annotation,
    })),
    ...(done ? [done] : []),
    { type: 'response.content_part.done', ...place, part },
  ]
}

function listSummaryEvents(part: JsonObject, place: JsonObject): readonly UnnumberedEvent[] {
  return [
    {
      type: 'response.reasoning_summary_part.added',
      ...place,
      part: { ...part, text: '' },
    },
    ...listTextEvents('response.reasoning_summary_text', 'text', part['text'], place),
    { type: 'response.reasoning_summary_part.done', ...place, part },
  ]
}

/** The one piece of a text, and its end. */
function listTextEvents(
  type: string,
  member: string,
  text: unknown,
  place: JsonObject,
): readonly UnnumberedEvent[] {
  return typeof text === 'string'
    ? [
        { type: `${type}.delta`, ...place, delta: text },
        { type: `${type}.done`, ...place, [member]: text },
      ]
    : []
}

function listObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
