import { randomUUID } from 'node:crypto'
import type { Answer, Part } from '../conversation.ts'
import { type Reply, sseFrame } from '../dialect.ts'
import { splitText } from '../parts.ts'
import { signCall } from '../proofs.ts'
import { idPrefix } from './signatures.ts'

export function wholeReply(model: string, given: Answer): Reply {
  const parts = sign(given.parts.flatMap(toParts))
  return { kind: 'whole', model, body: toResponse(model, given, { parts, isLast: true }) }
}

export function streamReply(model: string, given: Answer): Reply {
  const parts = sign(given.parts.flatMap(split).flatMap(toParts))
  const frames = parts.map((part, index) =>
    sseFrame(toResponse(model, given, { parts: [part], isLast: index === parts.length - 1 })),
  )
  return { kind: 'stream', model, contentType: 'text/event-stream', frames }
}

/** Splits texts. A call comes whole. */
function split(part: Part): Part[] {
  if (part.kind !== 'text' && part.kind !== 'reasoning') return [part]
  return splitText(part.text).map((text) => ({ ...part, text }))
}

function toParts(part: Part): object[] {
  switch (part.kind) {
    case 'reasoning':
      return [{ text: part.text, thought: true }]
    case 'veiled':
      return []
    case 'text':
      return [{ text: part.text }]
    case 'call': {
      const id = part.id.replace('call_', idPrefix)
      return [{ functionCall: { id, name: part.name, args: part.input } }]
    }
    default:
      return part satisfies never
  }
}

/** The first call carries the signature. Without calls the last part does. */
function sign(parts: readonly object[]): object[] {
  const firstCall = parts.findIndex((part) => 'functionCall' in part)
  const signed = firstCall < 0 ? parts.length - 1 : firstCall
  return parts.map((part, index) =>
    index === signed ? { ...part, thoughtSignature: signCall() } : part,
  )
}

interface Delivery {
  readonly parts: readonly object[]
  readonly isLast: boolean
}

function toResponse(model: string, { usage }: Answer, { parts, isLast }: Delivery): object {
  const content = { role: 'model', parts }
  return {
    candidates: [{ content, index: 0, ...(isLast && { finishReason: 'STOP' }) }],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output - usage.reasoning,
      ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
      totalTokenCount: usage.input + usage.output,
    },
    modelVersion: model,
    responseId: randomUUID(),
  }
}
