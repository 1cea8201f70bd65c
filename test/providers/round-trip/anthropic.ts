import { extractTexts } from '../../../src/wire/json-text.ts'
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
  takesPictures: true,
  needsReasoning: false,
  gateway: () => anthropicGateway({ upstreamId: 'claude-opus-4-8' }),
  answer(chance, isStreamed) {
    const said = createTurn(chance, isStreamed, {
      callId: claudeId,
      isProven: true,
      explains: true,
    })
    const stop = {
      stop_reason: said.stop,
      ...(said.explanation && { stop_details: { explanation: said.explanation } }),
    }
    const events = [
      event('message_start', { message: { ...message([]), stop_reason: null } }),
      ...said.blocks.flatMap((block, index) => [
        ...(chance.is(0.1) ? [event('ping')] : []),
        ...anthropicEvents(block, index, chance),
      ]),
      event('message_delta', { delta: stop, usage: { output_tokens: 9 } }),
      event('message_stop'),
    ]
    return {
      whole: written(
        message(
          said.blocks.map((block) => anthropicBlock(block, chance)),
          stop,
        ),
      ),
      stream: new TextEncoder().encode(events.join('')),
      shown: toShown(said),
      back: toReturned(said),
    }
  },
  turns(body) {
    const inputs = extractTexts(body, 'messages.*.content.*.input')
    const { messages } = JSON.parse(body) as { messages: Turn<Block>[] }
    return messages.flatMap(({ role, content }, m) =>
      role === 'assistant'
        ? [
            listBlocks(content).map((block, b) => {
              if (block.type !== 'tool_use') return block
              const { id, type } = block
              return { type, id, input: inputs.get(`messages.${m}.content.${b}.input`) ?? '' }
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
            ? [{ id: block.tool_use_id ?? '', input: anthropicInput(block.content) }]
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
}

function anthropicInput(content: AnthropicInput['content']): Input {
  const blocks = listBlocks(content ?? [])
  return {
    text: blocks.map(({ text: said }) => said ?? '').join(''),
    png: blocks.find(({ type }) => type === 'image')?.source?.data,
  }
}

function anthropicBlock(block: Block, chance: Chance): object {
  switch (block.type) {
    case 'tool_use':
      return { ...block, name: 'f', input: new RawText(block.input) }
    case 'text':
      return chance.is(0.2) ? { ...block, citations: [citation] } : block
    case 'thinking':
    case 'redacted_thinking':
      return block
  }
}

const citation = {
  type: 'char_location',
  cited_text: 'cited',
  document_index: 0,
  document_title: 'A document',
  start_char_index: 0,
  end_char_index: 5,
}

function anthropicEvents(block: Block, index: number, chance: Chance): string[] {
  return [
    event('content_block_start', { index, content_block: opening(block) }),
    ...anthropicDeltas(block, chance).map((delta) =>
      event('content_block_delta', { index, delta }),
    ),
    event('content_block_stop', { index }),
  ]
}

function opening(block: Block): object {
  switch (block.type) {
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'redacted_thinking':
      return block
    case 'text':
      return { type: 'text', text: '' }
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: 'f', input: {} }
  }
}

function anthropicDeltas(block: Block, chance: Chance): object[] {
  switch (block.type) {
    case 'thinking':
      return [
        ...chance.pieces(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block.signature },
      ]
    case 'redacted_thinking':
      return []
    case 'text':
      return [
        ...chance.pieces(block.text).map((piece) => ({ type: 'text_delta', text: piece })),
        ...(chance.is(0.2) ? [{ type: 'citations_delta', citation }] : []),
      ]
    case 'tool_use':
      return ['', ...chance.pieces(block.input)].map((piece) => ({
        type: 'input_json_delta',
        partial_json: piece,
      }))
  }
}
