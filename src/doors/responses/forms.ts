import * as z from 'zod'
import type { BufferedBody } from '../../core/ports.ts'
import { RawJson, stringifyJson } from '../../wire/json/raw.ts'
import { extractTexts } from '../../wire/json/text.ts'
import { type AnswerForms, decodeBody } from '../written-answer.ts'
import { CallItem } from './call-item.ts'
import { encodeEvent } from './events.ts'
import type { Emit, ItemContext, OutputItem } from './item.ts'
import { MessageItem } from './message-item.ts'
import { ReasoningItem } from './reasoning-item.ts'

/** The forms of a response that the gateway has written. */
export const responseForms: AnswerForms = Object.freeze({ toWhole, toStream })

const encoder = new TextEncoder()

/** The last event of a stream holds the whole response. */
function toWhole(stream: BufferedBody): Uint8Array {
  const text = decodeBody(stream)
  const last = text.slice(text.lastIndexOf('\ndata: '))
  return encoder.encode(last.slice(last.indexOf(member) + member.length, last.lastIndexOf('}')))
}

/** The member of that event, after its type and its number. */
const member = '"response":'

const call = { call_id: z.string(), namespace: z.string().optional() }

const item = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('message'),
    id: z.string(),
    content: z.array(
      z.discriminatedUnion('type', [
        z.looseObject({
          type: z.literal('output_text'),
          text: z.string(),
          annotations: z.array(z.looseObject({})),
        }),
        z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
      ]),
    ),
  }),
  z.looseObject({
    type: z.literal('reasoning'),
    id: z.string(),
    summary: z.array(z.looseObject({ text: z.string() })),
  }),
  z.looseObject({
    type: z.literal('function_call'),
    id: z.string(),
    name: z.string(),
    arguments: z.string(),
    ...call,
  }),
  z.looseObject({
    type: z.literal('custom_tool_call'),
    id: z.string(),
    name: z.string(),
    input: z.string(),
    ...call,
  }),
  z.looseObject({ type: z.literal('tool_search_call'), id: z.string(), ...call }),
])

const response = z.looseObject({
  status: z.enum(['completed', 'incomplete']),
  model: z.string(),
  output: z.array(item),
})

function toStream(body: BufferedBody): Uint8Array {
  const json = decodeBody(body)
  const whole = response.parse(JSON.parse(json))
  const begun = JSON.stringify({
    ...whole,
    status: 'in_progress',
    completed_at: null,
    incomplete_details: null,
    output: [],
    usage: null,
  })
  let events = ''
  let sequence = 0
  const write = (type: string, members: string) => {
    events += encodeEvent(type, sequence++, members)
  }
  const emit: Emit = (type, members) => write(type, stringifyJson(members))
  write('response.created', `{${member}${begun}}`)
  write('response.in_progress', `{${member}${begun}}`)
  const texts = extractTexts(json, 'output.*.arguments')
  for (const [outputIndex, parsed] of whole.output.entries()) {
    const text = texts.get(`output.${outputIndex}.arguments`)
    // Parsing would round the numbers of a search.
    const isSearch = parsed.type === 'tool_search_call' && text !== undefined
    const each = isSearch ? { ...parsed, arguments: new RawJson(text) } : parsed
    replayItem(each, { emit, outputIndex, id: each.id, model: whole.model })
  }
  write(`response.${whole.status}`, `{${member}${json}}`)
  return encoder.encode(events)
}

interface ReplayPlace extends ItemContext {
  readonly model: string
}

/** Emits the events of an item. It ends as it is in the response, with the proofs that it has there. */
function replayItem(done: z.infer<typeof item>, place: ReplayPlace): void {
  const { opened, fill } = openItem(done, place)
  const { emit, outputIndex } = place
  const begun = opened.render('in_progress')
  emit('response.output_item.added', { output_index: outputIndex, item: begun })
  fill()
  opened.close()
  emit('response.output_item.done', { output_index: outputIndex, item: done })
}

interface ReplayedItem {
  readonly opened: OutputItem
  readonly fill: () => void
}

function openItem(done: z.infer<typeof item>, place: ReplayPlace): ReplayedItem {
  switch (done.type) {
    case 'message': {
      const opened = new MessageItem(place)
      return { opened, fill: () => fillMessage(opened, done.content) }
    }
    case 'reasoning': {
      const opened = new ReasoningItem(place, place.model)
      return { opened, fill: () => done.summary.forEach(({ text }) => opened.addText(text)) }
    }
    case 'function_call': {
      const tool = { type: 'function', name: done.name, namespace: done.namespace } as const
      const opened = new CallItem(place, tool, done.call_id)
      return { opened, fill: () => opened.addArguments(done.arguments) }
    }
    case 'custom_tool_call': {
      const tool = { type: 'custom', name: done.name, namespace: done.namespace } as const
      const opened = new CallItem(place, tool, done.call_id)
      // The item decodes the arguments of the function that stands in for the tool.
      return { opened, fill: () => opened.addArguments(JSON.stringify({ input: done.input })) }
    }
    case 'tool_search_call': {
      const tool = { type: 'tool_search', name: '', namespace: undefined } as const
      return { opened: new CallItem(place, tool, done.call_id), fill: () => {} }
    }
    default:
      return done satisfies never
  }
}

type MessageContent = Extract<z.infer<typeof item>, { type: 'message' }>['content']

function fillMessage(message: MessageItem, content: MessageContent): void {
  for (const part of content) {
    if (part.type === 'refusal') message.addRefusal(part.refusal)
    else if (part.text === '' && part.annotations.length === 0) message.addNothing()
    else {
      if (part.text !== '') message.addText(part.text)
      for (const annotation of part.annotations) message.addAnnotation(annotation)
    }
  }
}
