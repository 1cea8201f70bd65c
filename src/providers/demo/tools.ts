import * as z from 'zod'
import type { ToolCall } from '../canonical/completion.ts'
import { createSample } from './sample.ts'

/** The maximum number of deltas in which the arguments of a call are streamed. */
const maxPieces = 100

export const demoTools = z.array(
  z.looseObject({
    function: z.looseObject({ name: z.string(), parameters: z.unknown().optional() }).optional(),
  }),
)

export const demoToolChoice = z.union([
  z.string(),
  z.looseObject({ function: z.looseObject({ name: z.string() }).optional() }),
])

interface ToolRequest {
  readonly tools: z.infer<typeof demoTools>
  readonly choice: z.infer<typeof demoToolChoice> | null | undefined
  /** The last message if it is the user's; otherwise empty. */
  readonly asked: string
}

/**
 * Returns the call that a request demands, by `tool_choice` or by naming a tool in the last message. The
 * demo never calls a tool that is only offered: an agent would run it with made-up arguments.
 */
export function findDemandedCall({ tools, choice, asked }: ToolRequest): ToolCall | undefined {
  if (choice === 'none') return undefined
  const offered = tools.flatMap((tool) => tool.function ?? [])
  const named = typeof choice === 'object' ? choice?.function?.name : undefined
  const tool =
    named === undefined
      ? (offered.find(({ name }) => isRequested(name, asked)) ??
        (choice === 'required' ? offered[0] : undefined))
      : offered.find(({ name }) => name === named)
  if (tool === undefined) return undefined
  return {
    id: `call_${crypto.randomUUID()}`,
    type: 'function',
    function: { name: tool.name, arguments: JSON.stringify(createSample(tool.parameters) ?? {}) },
  }
}

/** Returns the deltas of a streamed call: id, type and name first, then the arguments in pieces. */
export function toCallDeltas({
  id,
  type,
  function: { name, arguments: text },
}: ToolCall): object[] {
  const deltas: object[] = [
    { tool_calls: [{ index: 0, id, type, function: { name, arguments: '' } }] },
  ]
  const size = Math.max(8, Math.ceil(text.length / maxPieces))
  for (let at = 0; at < text.length; at += size) {
    const piece = text.slice(at, at + size)
    deltas.push({ tool_calls: [{ index: 0, function: { arguments: piece } }] })
  }
  return deltas
}

/**
 * True for "get_weather, please", and for "call weather" and "use the `weather` tool". Ordinary words such
 * as `read` and `task` need such a verb. Only the last paragraph counts, because agents put pages of
 * instructions about their tools before the user's message.
 */
function isRequested(name: string, asked: string): boolean {
  const paragraphs = asked.trimEnd().split(/\n\s*\n/)
  const words = (paragraphs.at(-1) ?? '').toLowerCase().split(/[^\p{L}\p{N}_-]+/u)
  const isOrdinaryWord = /^\p{L}\p{Ll}*$/u.test(name)
  if (!isOrdinaryWord) return words.includes(name.toLowerCase())
  const sentence = ` ${words.join(' ')} `
  return ['call', 'use', 'invoke'].some((verb) =>
    ['', 'the ', 'tool ', 'the tool ', 'function ', 'the function '].some((article) =>
      sentence.includes(` ${verb} ${article}${name.toLowerCase()} `),
    ),
  )
}
