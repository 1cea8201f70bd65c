import { extractTexts } from '../../../src/wire/json-text.ts'
import { awsEvent } from '../../support/aws-event-stream.ts'
import { answered, bedrockGateway } from '../bedrock/support.ts'
import type { Chance } from './chance.ts'
import {
  type Block,
  claudeId,
  createTurn,
  type ModelQuirks,
  toReturned,
  toShown,
} from './claude.ts'
import { inputsInOrder } from './inputs.ts'
import { listBlocks, type Turn } from './turns.ts'
import type { Input, Vendor } from './vendor.ts'
import { RawText, written } from './words.ts'

function converse(name: string, upstreamId: string, habits: ModelQuirks): Vendor {
  return {
    kind: 'bedrock',
    name,
    contentType: 'application/vnd.amazon.eventstream',
    takesPictures: true,
    needsReasoning: false,
    gateway: () => bedrockGateway({ upstreamId }),
    answer(chance, isStreamed) {
      const said = createTurn(chance, isStreamed, habits)
      const events = [
        awsEvent('messageStart', { role: 'assistant', p: 'abc' }),
        ...said.blocks.flatMap((block, index) => converseEvents(block, index, chance)),
        awsEvent('messageStop', { stopReason: said.stop }),
        awsEvent('metadata', { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }),
      ]
      return {
        whole: written(
          answered(
            said.blocks.map((block) => converseBlock(block, chance)),
            { stopReason: said.stop },
          ),
        ),
        stream: Uint8Array.from(events.flatMap((bytes) => [...bytes])),
        shown: toShown(said),
        back: toReturned(said),
      }
    },
    turns(body) {
      const inputs = extractTexts(body, 'messages.*.content.*.toolUse.input')
      const { messages } = JSON.parse(body) as { messages: Turn<ConverseBlock>[] }
      return messages.flatMap(({ role, content }, m) =>
        role === 'assistant'
          ? [
              listBlocks(content).map((block, b) =>
                claudeWords(block, inputs.get(`messages.${m}.content.${b}.toolUse.input`) ?? ''),
              ),
            ]
          : [],
      )
    },
    inputs(body) {
      const { messages } = JSON.parse(body) as { messages: Turn<ConverseBlock>[] }
      return inputsInOrder(
        messages.map(({ role, content }) => ({
          calls: listBlocks(content).flatMap(({ toolUse }) => toolUse?.toolUseId ?? []),
          results: listBlocks(content).flatMap(({ toolResult }) =>
            toolResult
              ? [{ id: toolResult.toolUseId, input: converseInput(toolResult.content) }]
              : [],
          ),
          said: role === 'user' ? listBlocks(content).flatMap(({ text: said }) => said ?? []) : [],
        })),
      )
    },
  }
}

export const bedrock: Vendor = converse('bedrock', 'us.anthropic.claude-opus-4-8-v1:0', {
  callId: claudeId,
  isProven: true,
  explains: false,
})

/** Kimi numbers its calls. */
export const kimi: Vendor = converse('bedrock, Kimi', 'moonshot.kimi-k2-thinking', {
  callId: (chance) => `functions.f:${chance.below(1e9)}`,
  isProven: false,
  explains: false,
})

/** Mistral's models require ids of nine letters and digits. */
export const mistral: Vendor = converse('bedrock, Mistral', 'mistral.mistral-large-2407-v1:0', {
  callId: (chance) => chance.some(9, 9, () => chance.pick([...'abcXYZ0189'])).join(''),
  isProven: false,
  explains: false,
})

interface ConverseBlock {
  readonly text?: string
  readonly image?: { readonly source: { readonly bytes: string } }
  readonly toolUse?: { readonly toolUseId: string }
  readonly toolResult?: { readonly toolUseId: string; readonly content: readonly ConverseBlock[] }
  readonly reasoningContent?: {
    readonly reasoningText?: { readonly text: string; readonly signature: string }
    readonly redactedContent?: string
  }
}

function converseInput(content: readonly ConverseBlock[]): Input {
  return {
    text: content.map(({ text: said }) => said ?? '').join(''),
    png: content.find(({ image }) => image)?.image?.source.bytes,
  }
}

function claudeWords(
  { text: said, toolUse, reasoningContent }: ConverseBlock,
  input: string,
): object {
  if (said !== undefined) return { type: 'text', text: said }
  if (toolUse) return { type: 'tool_use', id: toolUse.toolUseId, input }
  const { reasoningText, redactedContent } = reasoningContent ?? {}
  return reasoningText
    ? { type: 'thinking', thinking: reasoningText.text, signature: reasoningText.signature }
    : { type: 'redacted_thinking', data: redactedContent }
}

const citation = { title: 'A document', source: 'd1', sourceContent: [{ text: 'cited' }] }

function converseBlock(block: Block, chance: Chance): object {
  switch (block.type) {
    case 'thinking': {
      const { thinking, signature } = block
      return {
        reasoningContent: { reasoningText: { text: thinking, ...(signature && { signature }) } },
      }
    }
    case 'redacted_thinking':
      return { reasoningContent: { redactedContent: block.data } }
    case 'text':
      return chance.is(0.2)
        ? { citationsContent: { content: [{ text: block.text }], citations: [citation] } }
        : { text: block.text }
    case 'tool_use':
      return { toolUse: { toolUseId: block.id, name: 'f', input: new RawText(block.input) } }
  }
}

function converseEvents(block: Block, contentBlockIndex: number, chance: Chance): Uint8Array[] {
  const start = block.type === 'tool_use' && { toolUse: { toolUseId: block.id, name: 'f' } }
  return [
    ...(start ? [awsEvent('contentBlockStart', { contentBlockIndex, start })] : []),
    ...converseDeltas(block, chance).map((delta) =>
      awsEvent('contentBlockDelta', { contentBlockIndex, delta, p: 'abcdef' }),
    ),
    awsEvent('contentBlockStop', { contentBlockIndex }),
  ]
}

function converseDeltas(block: Block, chance: Chance): object[] {
  switch (block.type) {
    case 'thinking':
      return [
        ...chance.pieces(block.thinking).map((said) => ({ reasoningContent: { text: said } })),
        ...(block.signature ? [{ reasoningContent: { signature: block.signature } }] : []),
      ]
    case 'redacted_thinking':
      return [{ reasoningContent: { redactedContent: block.data } }]
    case 'text':
      return [
        ...chance.pieces(block.text).map((piece) => ({ text: piece })),
        ...(chance.is(0.2) ? [{ citation }] : []),
      ]
    case 'tool_use':
      return chance.pieces(block.input).map((input) => ({ toolUse: { input } }))
  }
}
