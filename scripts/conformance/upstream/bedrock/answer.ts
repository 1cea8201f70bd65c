import { EventStreamCodec } from '@smithy/eventstream-codec'
import { type Answer, hasCalls, type Part } from '../conversation.ts'
import type { Reply } from '../dialect.ts'
import { splitJson, splitText } from '../parts.ts'
import { signThoughts, veil } from '../proofs.ts'
import type { Block } from './request.ts'

export function wholeReply(model: string, given: Answer): Reply {
  const body = {
    output: { message: { role: 'assistant', content: toBlocks(given.parts) } },
    stopReason: toStop(given),
    usage: toUsage(given),
    metrics: { latencyMs: 12 },
  }
  return { kind: 'whole', model, body }
}

export function streamReply(model: string, given: Answer): Reply {
  const frames = [
    frame('messageStart', { role: 'assistant' }),
    ...toBlocks(given.parts).flatMap(toFrames),
    frame('messageStop', { stopReason: toStop(given) }),
    frame('metadata', { usage: toUsage(given), metrics: { latencyMs: 12 } }),
  ]
  return { kind: 'stream', model, contentType: 'application/vnd.amazon.eventstream', frames }
}

function toBlocks(parts: readonly Part[]): Block[] {
  return parts.map((part, index): Block => {
    switch (part.kind) {
      case 'reasoning': {
        const signature = signThoughts(part.text, parts[index + 1]?.kind === 'veiled')
        return { reasoningContent: { reasoningText: { text: part.text, signature } } }
      }
      case 'veiled':
        return { reasoningContent: { redactedContent: veil() } }
      case 'text':
        return { text: part.text }
      case 'call': {
        const toolUseId = part.id.replace('call_', 'tooluse_')
        return { toolUse: { toolUseId, name: part.name, input: { ...part.input } } }
      }
      default:
        return part satisfies never
    }
  })
}

/** Only a call has a start event. */
function toFrames(block: Block, contentBlockIndex: number): Uint8Array[] {
  const { toolUse } = block
  const start = toolUse && { toolUse: { toolUseId: toolUse.toolUseId, name: toolUse.name } }
  return [
    ...(start ? [frame('contentBlockStart', { contentBlockIndex, start })] : []),
    ...toDeltas(block).map((delta) => frame('contentBlockDelta', { contentBlockIndex, delta })),
    frame('contentBlockStop', { contentBlockIndex }),
  ]
}

function toDeltas({ text, toolUse, reasoningContent }: Block): object[] {
  const { reasoningText, redactedContent } = reasoningContent ?? {}
  if (text !== undefined) return splitText(text).map((piece) => ({ text: piece }))
  if (toolUse) return splitJson(toolUse.input).map((input) => ({ toolUse: { input } }))
  if (redactedContent !== undefined) return [{ reasoningContent: { redactedContent } }]
  return [
    ...splitText(reasoningText?.text ?? '').map((piece) => ({ reasoningContent: { text: piece } })),
    { reasoningContent: { signature: reasoningText?.signature } },
  ]
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
)

/** Writes an event with its checksums. */
function frame(type: string, body: object): Uint8Array {
  const header = (value: string) => ({ type: 'string' as const, value })
  return codec.encode({
    headers: {
      ':message-type': header('event'),
      ':event-type': header(type),
      ':content-type': header('application/json'),
    },
    body: Buffer.from(JSON.stringify(body)),
  })
}

function toStop(given: Answer): string {
  return hasCalls(given) ? 'tool_use' : 'end_turn'
}

function toUsage({ usage }: Answer): object {
  return {
    inputTokens: usage.input,
    outputTokens: usage.output,
    totalTokens: usage.input + usage.output,
  }
}
