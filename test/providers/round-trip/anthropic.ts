import { extractTexts } from '../../../src/wire/json/text.ts'
import { anthropicGateway, event, message } from '../anthropic/support.ts'
import type { Chance } from './chance.ts'
import { type Block, claudeId, createTurn, toReturned, toShown } from './claude.ts'
import { inputsInOrder } from './inputs.ts'
import { listBlocks, type Turn } from './turns.ts'
import type { Input, Vendor } from './vendor.ts'
import { RawText, written } from './words.ts'

export const anthropic: Vendor = {
  kind: 'anthropic',
  name: 'anthropic',
  contentType: 'text/event-stream',
  model: 'm',
  takesPictures: true,
  takesFailures: true,
  gateway: () => anthropicGateway({ upstreamId: 'claude-opus-4-8' }),
  answer(chance, { mayTear }) {
    const said = createTurn(chance, mayTear, {
      callId: claudeId,
      isProven: true,
      explains: true,
      searches: true,
    })
    const stop = {
      stop_reason: said.stop,
      ...(said.explanation && { stop_details: { explanation: said.explanation } }),
    }
    const events = [
      event('message_start', { message: { ...message([]), stop_reason: null } }),
      ...said.blocks
        .flatMap(toParts)
        .flatMap((part, index) => [
          ...(chance.is(0.1) ? [event('ping')] : []),
          ...anthropicEvents(part, index, chance),
        ]),
      event('message_delta', { delta: stop, usage: { output_tokens: 9 } }),
      event('message_stop'),
    ]
    const back = toReturned(said)?.flatMap(toParts).map(toBack)
    return {
      whole: written(message(said.blocks.flatMap(toParts).map(toBlock), stop)),
      stream: new TextEncoder().encode(events.join('')),
      shown: toShown(said),
      back,
      proven: back,
      isProvenOtherwise: false,
    }
  },
  readText: (turn) => (turn as AnthropicInput[]).map(({ text = '' }) => text).join(''),
  turns(body) {
    const inputs = extractTexts(body, 'messages.*.content.*.input')
    const { messages } = JSON.parse(body) as { messages: Turn<AnthropicInput>[] }
    return messages.flatMap(({ role, content }, m) =>
      role === 'assistant'
        ? [
            listBlocks(content).map((block, b) => {
              if (block.type !== 'tool_use') return block
              return { ...block, input: inputs.get(`messages.${m}.content.${b}.input`) ?? '' }
            }),
          ]
        : [],
    )
  },
  inputs(body) {
    const { messages } = JSON.parse(body) as { messages: Turn<AnthropicInput>[] }
    return inputsInOrder(
      messages.map(({ role, content }) => ({
        calls:
          role === 'assistant'
            ? listBlocks(content).flatMap(({ type, id }) => (type === 'tool_use' ? (id ?? []) : []))
            : [],
        results: listBlocks(content).flatMap((block) =>
          block.type === 'tool_result'
            ? [{ id: block.tool_use_id ?? '', input: anthropicInput(block) }]
            : [],
        ),
        said:
          role === 'user'
            ? listBlocks(content).flatMap(({ type, text: said }) =>
                type === 'text' ? [said ?? ''] : [],
              )
            : [],
      })),
    )
  },
}

interface AnthropicInput {
  readonly type: string
  readonly id?: string
  readonly text?: string
  readonly tool_use_id?: string
  readonly content?: string | readonly AnthropicInput[]
  readonly source?: { readonly data: string }
  readonly is_error?: boolean
}

function anthropicInput({ content = [], is_error: hasFailed = false }: AnthropicInput): Input {
  const blocks = listBlocks(content)
  return {
    text: blocks.map(({ text: said }) => said ?? '').join(''),
    png: blocks.find(({ type }) => type === 'image')?.source?.data,
    hasFailed,
  }
}

/** A block in the vendor's form, with its input as JSON text. */
interface Part {
  readonly block: Readonly<Record<string, unknown>>
  readonly input?: string
}

function toParts(block: Block): Part[] {
  switch (block.type) {
    case 'tool_use': {
      const { input, ...call } = block
      return [{ block: { ...call, name: 'f' }, input }]
    }
    case 'search': {
      const { id, query, results } = block
      const found = results.map(({ url, title, cited }) => ({
        type: 'web_search_result',
        url,
        title,
        encrypted_content: cited,
        page_age: null,
      }))
      return [
        {
          block: { type: 'server_tool_use', id, name: 'web_search' },
          input: JSON.stringify({ query }),
        },
        { block: { type: 'web_search_tool_result', tool_use_id: id, content: found } },
      ]
    }
    case 'text': {
      const { type, text, sources } = block
      const citations = sources?.map(({ url, title, cited }) => ({
        type: 'web_search_result_location',
        url,
        title,
        cited_text: cited,
        encrypted_index: 'RW5jcnlwdGVk',
      }))
      return [{ block: { type, text, ...(citations && { citations }) } }]
    }
    case 'thinking':
    case 'redacted_thinking':
      return [{ block }]
  }
}

function toBlock({ block, input }: Part): object {
  return input === undefined ? block : { ...block, input: new RawText(input) }
}

/** The form in which `turns` returns a block. */
function toBack({ block, input }: Part): object {
  if (input === undefined) return block
  return block['type'] === 'tool_use' ? { ...block, input } : { ...block, input: JSON.parse(input) }
}

function anthropicEvents(part: Part, index: number, chance: Chance): string[] {
  return [
    event('content_block_start', { index, content_block: opening(part) }),
    ...anthropicDeltas(part, chance).map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ]
}

function opening({ block, input }: Part): object {
  switch (block['type']) {
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'text':
      return { type: 'text', text: '' }
    default:
      return input === undefined ? block : { ...block, input: {} }
  }
}

function anthropicDeltas({ block, input }: Part, chance: Chance): object[] {
  const { type, text, thinking, signature, citations } = block
  switch (type) {
    case 'thinking':
      return [
        ...chance
          .pieces(String(thinking))
          .map((piece) => ({ type: 'thinking_delta', thinking: piece })),
        { type: 'signature_delta', signature },
      ]
    case 'text':
      return [
        ...chance.pieces(String(text)).map((piece) => ({ type: 'text_delta', text: piece })),
        ...(Array.isArray(citations) ? citations : []).map((citation) => ({
          type: 'citations_delta',
          citation,
        })),
      ]
    default:
      return input === undefined
        ? []
        : ['', ...chance.pieces(input)].map((piece) => ({
            type: 'input_json_delta',
            partial_json: piece,
          }))
  }
}
