import { extractTexts } from '../../../src/wire/json/text.ts'
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
    model: 'm',
    takesPictures: /claude|nova/.test(upstreamId),
    takesFailures: /claude|nova/.test(upstreamId),
    gateway: () => bedrockGateway({ upstreamId }),
    answer(chance, { mayTear }) {
      const said = createTurn(chance, mayTear, habits)
      const events = [
        awsEvent('messageStart', { role: 'assistant', p: 'abc' }),
        ...said.blocks
          .flatMap(toParts)
          .flatMap((part, index) => converseEvents(part, index, chance)),
        awsEvent('messageStop', { stopReason: said.stop }),
        awsEvent('metadata', { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }),
      ]
      const back = toReturned(said)?.flatMap(toParts).map(toBack)
      return {
        whole: written(
          answered(said.blocks.flatMap(toParts).map(toBlock), { stopReason: said.stop }),
        ),
        stream: Uint8Array.from(events.flatMap((bytes) => [...bytes])),
        shown: toShown(said),
        back,
        proven: back,
        isProvenOtherwise: false,
      }
    },
    readText: (turn) =>
      (turn as ConverseBlock[])
        .flatMap((block): readonly ConverseBlock[] => block.citationsContent?.content ?? [block])
        .map(({ text: said }) => said ?? '')
        .join(''),
    turns(body) {
      const inputs = extractTexts(body, 'messages.*.content.*.toolUse.input')
      const { messages } = JSON.parse(body) as { messages: Turn<ConverseBlock>[] }
      return messages.flatMap(({ role, content }, m) =>
        role === 'assistant'
          ? [
              listBlocks(content).map((block, b) =>
                toBack({ block, input: inputs.get(`messages.${m}.content.${b}.toolUse.input`) }),
              ),
            ]
          : [],
      )
    },
    inputs(body) {
      const { messages } = JSON.parse(body) as { messages: Turn<ConverseBlock>[] }
      return inputsInOrder(
        messages.map(({ role, content }) => ({
          calls: listBlocks(content).flatMap(({ toolUse }) =>
            toolUse && toolUse.type === undefined ? toolUse.toolUseId : [],
          ),
          results: listBlocks(content).flatMap(({ toolResult }) =>
            toolResult && role === 'user'
              ? [{ id: toolResult.toolUseId, input: converseInput(toolResult) }]
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
  searches: false,
})

/** Nova searches by itself. */
export const nova: Vendor = converse('bedrock, Nova', 'us.amazon.nova-2-lite-v1:0', {
  callId: (chance) => `tooluse_${chance.below(1e9)}`,
  isProven: false,
  explains: false,
  searches: true,
})

/** Kimi numbers its calls. */
export const kimi: Vendor = converse('bedrock, Kimi', 'moonshot.kimi-k2-thinking', {
  callId: (chance) => `functions.f:${chance.below(1e9)}`,
  isProven: false,
  explains: false,
  searches: false,
})

/** Mistral's models require ids of nine letters and digits. */
export const mistral: Vendor = converse('bedrock, Mistral', 'mistral.mistral-large-2407-v1:0', {
  callId: (chance) => chance.some(9, 9, () => chance.pick([...'abcXYZ0189'])).join(''),
  isProven: false,
  explains: false,
  searches: false,
})

interface ConverseBlock extends Readonly<Record<string, unknown>> {
  readonly text?: string
  readonly image?: { readonly source: { readonly bytes: string } }
  readonly toolUse?: { readonly toolUseId: string; readonly name: string; readonly type?: string }
  readonly toolResult?: ConverseResult
  readonly reasoningContent?: {
    readonly reasoningText?: { readonly text: string; readonly signature: string }
    readonly redactedContent?: string
  }
  readonly citationsContent?: {
    readonly content: readonly { readonly text: string }[]
    readonly citations: readonly object[]
  }
}

interface ConverseResult {
  readonly toolUseId: string
  readonly content: readonly ConverseBlock[]
  readonly status?: string
}

function converseInput({ content, status }: ConverseResult): Input {
  return {
    text: content.map(({ text: said }) => said ?? '').join(''),
    png: content.find(({ image }) => image)?.image?.source.bytes,
    hasFailed: status === 'error',
  }
}

/** A block in the service's form, with its input as JSON text. */
interface Part {
  readonly block: ConverseBlock
  readonly input?: string | undefined
}

function toParts(block: Block): Part[] {
  switch (block.type) {
    case 'thinking': {
      const { thinking, signature } = block
      const reasoningText = { text: thinking, signature }
      return [{ block: { reasoningContent: { reasoningText } } }]
    }
    case 'redacted_thinking':
      return [{ block: { reasoningContent: { redactedContent: block.data } } }]
    case 'text': {
      const { text: said, sources } = block
      if (!sources) return [{ block: { text: said } }]
      const citations = sources.map(({ url, title, cited }) => ({
        title,
        sourceContent: [{ text: cited }],
        location: { web: { url, domain: 'example.org' } },
      }))
      return [{ block: { citationsContent: { content: [{ text: said }], citations } } }]
    }
    case 'tool_use':
      return [{ block: { toolUse: { toolUseId: block.id, name: 'f' } }, input: block.input }]
    case 'search': {
      const { id: toolUseId, query, results } = block
      const toolUse = { toolUseId, name: 'nova_grounding', type: 'server_tool_use' }
      const content = results.map((json): ConverseBlock => ({ json }))
      const toolResult = {
        toolUseId,
        type: 'nova_grounding_result',
        status: 'success',
        content,
      }
      return [{ block: { toolUse }, input: JSON.stringify({ query }) }, { block: { toolResult } }]
    }
  }
}

function toBlock({ block, input }: Part): object {
  if (input === undefined) return block
  return { toolUse: { ...block.toolUse, input: new RawText(input) } }
}

/** The form in which `turns` returns a block. */
function toBack({ block, input }: Part): object {
  return input === undefined ? block : { toolUse: { ...block.toolUse, input } }
}

function converseEvents(part: Part, contentBlockIndex: number, chance: Chance): Uint8Array[] {
  const { toolUse, toolResult } = part.block
  const { content: _, ...resultStart } = toolResult ?? {}
  const start = toolUse ? { toolUse } : toolResult && { toolResult: resultStart }
  return [
    ...(start ? [awsEvent('contentBlockStart', { contentBlockIndex, start })] : []),
    ...converseDeltas(part, chance).map((delta) =>
      awsEvent('contentBlockDelta', { contentBlockIndex, delta, p: 'abcdef' }),
    ),
    awsEvent('contentBlockStop', { contentBlockIndex }),
  ]
}

function converseDeltas({ block, input }: Part, chance: Chance): object[] {
  const { text: said, citationsContent, reasoningContent, toolResult } = block
  if (input !== undefined)
    return chance.pieces(input).map((piece) => ({ toolUse: { input: piece } }))
  if (toolResult) return toolResult.content.map((part) => ({ toolResult: [part] }))
  if (reasoningContent) {
    const { reasoningText, redactedContent } = reasoningContent
    if (!reasoningText) return [{ reasoningContent: { redactedContent } }]
    const { text: thought, signature } = reasoningText
    return [
      ...chance.pieces(thought).map((piece) => ({ reasoningContent: { text: piece } })),
      ...(signature ? [{ reasoningContent: { signature } }] : []),
    ]
  }
  const { content = [{ text: said ?? '' }], citations = [] } = citationsContent ?? {}
  return [
    ...content.flatMap((part) => chance.pieces(part.text)).map((piece) => ({ text: piece })),
    ...citations.map((citation) => ({ citation })),
  ]
}
