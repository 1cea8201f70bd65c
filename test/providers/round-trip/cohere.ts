import { event, piece } from '../cases/cohere.ts'
import { answered, cohereGateway } from '../cohere/support.ts'
import type { Chance } from './chance.ts'
import { inputsInOrder } from './inputs.ts'
import type { Vendor } from './vendor.ts'
import { object, text } from './words.ts'

/** Command. All that it writes comes back. */

interface Call {
  readonly id: string
  readonly arguments: string
}

interface ModelTurn {
  readonly thoughts: readonly string[]
  readonly texts: readonly string[]
  readonly plan: string
  readonly calls: readonly Call[]
  readonly citations: readonly Citation[]
}

/** A range of one of the texts, or of something outside the answer. */
interface Citation {
  readonly block: number
  readonly start: number
  readonly end: number
  readonly type: 'TEXT_CONTENT' | 'PLAN' | 'THINKING_CONTENT'
  readonly source: { readonly id: string; readonly title?: string; readonly url?: string }
}

function createTurn(chance: Chance): ModelTurn {
  const thoughts = chance.some(0, 1, () => text(chance))
  if (chance.is(0.4)) {
    const texts = chance.some(1, 2, () => text(chance))
    const citations = chance.some(0, 3, () => createCitation(texts, chance))
    return { thoughts, texts, plan: '', calls: [], citations }
  }
  const calls = chance.some(1, 3, () => ({
    id: `f_${chance.below(1e12).toString(36)}`,
    arguments: chance.is(0.1) ? chance.pick(['', 'null']) : object(chance),
  }))
  return { thoughts, texts: [], plan: chance.is(0.7) ? text(chance) : '', calls, citations: [] }
}

function createCitation(texts: readonly string[], chance: Chance): Citation {
  const block = chance.below(texts.length)
  const { length } = [...(texts[block] ?? '')]
  const start = chance.below(length)
  return {
    block,
    start,
    end: start + 1 + chance.below(length - start),
    type: chance.pick(['TEXT_CONTENT', 'TEXT_CONTENT', 'PLAN', 'THINKING_CONTENT']),
    source: {
      id: `doc_${chance.below(9)}`,
      ...(chance.is(0.5) && { title: text(chance) }),
      ...(chance.is(0.5) && { url: 'https://example.org/a' }),
    },
  }
}

/** Returns the cited text; the vendor counts in characters. */
function citedText({ texts }: ModelTurn, { block, start, end }: Citation): string {
  return [...(texts[block] ?? '')].slice(start, end).join('')
}

/** The vendor's citation, by block; thoughts count as blocks. */
function vendorCitation(said: ModelTurn, citation: Citation): object {
  const { block, start, end, type, source } = citation
  const { id, ...document } = source
  return {
    start,
    end,
    type,
    text: citedText(said, citation),
    content_index: said.thoughts.length + block,
    sources: [{ type: 'document', id, document: { id, ...document } }],
  }
}

/** The client's annotation, in the joined text. */
function annotation(said: ModelTurn, citation: Citation): object {
  const { block, start, end, source } = citation
  const offset = [...said.texts.slice(0, block).join('')].length
  return {
    type: 'url_citation',
    url_citation: {
      start_index: offset + start,
      end_index: offset + end,
      url: source.url ?? '',
      // A source without an address has a title.
      title: source.title ?? (source.url === undefined ? source.id : ''),
      text: citedText(said, citation),
      source_id: source.id,
    },
  }
}

const isNothing = (written: string) => written === '' || written === 'null'

export const cohere: Vendor = {
  kind: 'cohere',
  name: 'cohere',
  contentType: 'text/event-stream',
  model: 'm',
  takesPictures: false,
  takesFailures: false,
  gateway: () => cohereGateway(),
  answer(chance) {
    const said = createTurn(chance)
    const content = said.texts.join('')
    const reasoning = [...said.thoughts, said.plan].filter(Boolean).join('\n')
    const calls = said.calls.map((call) => ({
      ...call,
      arguments: isNothing(call.arguments) ? '{}' : call.arguments,
    }))
    return {
      whole: JSON.stringify(toBody(said)),
      stream: new TextEncoder().encode(toEvents(said, chance).join('')),
      shown: {
        content,
        reasoning,
        annotations: said.citations
          .filter(({ type }) => type === 'TEXT_CONTENT')
          .map((citation) => annotation(said, citation)),
        calls: calls.map((call) => ({ name: 'f', arguments: call.arguments })),
      },
      back: toReturned(said),
      proven: toReturned(said),
      isProvenOtherwise: false,
    }
  },
  readText(turn) {
    const { content = '' } = turn as { content?: string | readonly { readonly text?: string }[] }
    return typeof content === 'string'
      ? content
      : content.map(({ text: said = '' }) => said).join('')
  },
  turns(body) {
    return parseMessages(body).flatMap(({ role, ...said }) => (role === 'assistant' ? [said] : []))
  },
  inputs(body) {
    const turns = splitRuns(parseMessages(body))
    return inputsInOrder(
      turns.map((run) => ({
        calls: run.flatMap(({ tool_calls }) => tool_calls?.map(({ id }) => id) ?? []),
        results: run.flatMap(({ tool_call_id: id, content = '' }) =>
          id === undefined
            ? []
            : [{ id, input: { text: content, png: undefined, hasFailed: false } }],
        ),
        said: run.flatMap(({ role, content }) => (role === 'user' ? (content ?? []) : [])),
      })),
    )
  },
}

interface CohereMessage {
  readonly role: string
  readonly content?: string
  readonly tool_plan?: string
  readonly tool_call_id?: string
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly arguments: string }
  }[]
}

function parseMessages(body: string): readonly CohereMessage[] {
  return (JSON.parse(body) as { messages: CohereMessage[] }).messages
}

/** Splits messages into single messages of the model and runs of all others. */
function splitRuns(messages: readonly CohereMessage[]): CohereMessage[][] {
  const runs: CohereMessage[][] = []
  for (const message of messages) {
    const isModel = message.role === 'assistant'
    const isNew = isModel || runs.at(-1)?.[0]?.role === 'assistant'
    if (isNew || runs.length === 0) runs.push([])
    runs.at(-1)?.push(message)
  }
  return runs
}

const toCall = (call: Call, written: string) => ({
  id: call.id,
  type: 'function',
  function: { name: 'f', arguments: written },
})

function toBody(said: ModelTurn): object {
  return answered(toMessage(said))
}

/** A single text comes back as a text. */
function toReturned(said: ModelTurn): object {
  const { thoughts, texts, citations } = said
  const isPlain = thoughts.length + citations.length === 0 && texts.length === 1
  return { ...toMessage(said), ...(isPlain && { content: texts[0] }) }
}

function toMessage(said: ModelTurn): object {
  const { thoughts, texts, plan, calls, citations } = said
  const content = [
    ...thoughts.map((thinking) => ({ type: 'thinking', thinking })),
    ...texts.map((one) => ({ type: 'text', text: one })),
  ]
  return {
    ...(content.length > 0 && { content }),
    ...(plan !== '' && { tool_plan: plan }),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => toCall(call, call.arguments)) }),
    ...(citations.length > 0 && { citations: citations.map((one) => vendorCitation(said, one)) }),
  }
}

function toEvents(said: ModelTurn, chance: Chance): string[] {
  const { thoughts, texts, plan, calls, citations } = said
  const blocks = [
    ...thoughts.map((one) => ['thinking', one] as const),
    ...texts.map((one) => ['text', one] as const),
  ]
  return [
    event('message-start', { id: 'co-1', delta: { message: { role: 'assistant' } } }),
    ...blocks.flatMap(([type, one], index) => [
      piece('content-start', { content: { type, [type]: '' } }, { index }),
      ...chance
        .pieces(one)
        .map((part) => piece('content-delta', { content: { [type]: part } }, { index })),
      event('content-end', { index }),
    ]),
    ...citations.flatMap((one, index) => [
      piece('citation-start', { citations: vendorCitation(said, one) }, { index }),
      event('citation-end', { index }),
    ]),
    ...(plan === '' ? [] : chance.pieces(plan)).map((tool_plan) =>
      piece('tool-plan-delta', { tool_plan }),
    ),
    ...calls.flatMap((call, index) => [
      piece('tool-call-start', { tool_calls: toCall(call, '') }, { index }),
      ...(call.arguments === '' ? [] : chance.pieces(call.arguments)).map((part) =>
        piece('tool-call-delta', { tool_calls: { function: { arguments: part } } }, { index }),
      ),
      event('tool-call-end', { index }),
    ]),
    event('message-end', {
      delta: {
        finish_reason: calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE',
        usage: { tokens: { input_tokens: 10, output_tokens: 5 } },
      },
    }),
  ]
}
