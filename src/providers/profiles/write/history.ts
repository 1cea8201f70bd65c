import type { ChatMessage } from '../../../core/chat.ts'
import type { PastReasoning, ReasoningForm } from '../../../core/past-reasoning.ts'
import type { Profile } from '../../../core/profile.ts'
import { isObject, type JsonObject } from '../../../wire/json/parse.ts'
import { joinPieces } from '../entries.ts'
import { listCalls, listContentParts, type WrittenMessage } from './message.ts'

/** The model that a request is written for. */
export interface TargetModel {
  /** The client-facing id. */
  readonly model: string
  readonly lineage: string | undefined
}

/**
 * Reads the messages, and decides which answers take their reasoning along. The turns are those of the client:
 * instructions that become user text later do not begin a new one.
 */
export function readHistory(
  messages: readonly ChatMessage[],
  { profile, recipient }: { readonly profile: Profile; readonly recipient: TargetModel },
): readonly WrittenMessage[] {
  const returns = findReturning(messages, profile)
  return messages.map((given, index) => {
    const role = toRole(given.role)
    if (role !== 'assistant') return { role, message: role === 'system' ? toSystem(given) : given }
    const { past_reasoning: past, ...message } = given
    const own = listPast(past).filter((one) => isOwn(one, { profile, recipient }))
    if (!returns.has(index)) return { role, message, reasoning: [] }
    return { role, message, reasoning: own.length > 0 ? own : replaceMissing(profile) }
  })
}

function toRole(role: string): WrittenMessage['role'] {
  switch (role) {
    case 'system':
    case 'developer':
      return 'system'
    case 'assistant':
    case 'tool':
      return role
    default:
      return 'user'
  }
}

/** Only OpenAI's own models know developers. */
function toSystem(message: ChatMessage): ChatMessage {
  return message.role === 'system' ? message : { ...message, role: 'system' }
}

function listPast(value: unknown): readonly PastReasoning[] {
  // The doors of the gateway write it.
  return Array.isArray(value) ? (value as readonly PastReasoning[]) : []
}

/**
 * Text without a proof goes to every family whose proof is text, under the name that its profile has: where none is
 * known, a closed schema may refuse it. All else goes to the family that made it.
 */
function isOwn(
  { model, lineage }: PastReasoning,
  { profile, recipient }: { readonly profile: Profile; readonly recipient: TargetModel },
): boolean {
  if (model === undefined) return !profile.reasoningSigned && profile.reasoningField !== 'auto'
  if (model === recipient.model) return true
  return lineage !== undefined && lineage === recipient.lineage
}

function replaceMissing({ reasoningMissing }: Profile): readonly PastReasoning[] {
  switch (reasoningMissing) {
    case 'omit':
      return []
    case 'empty':
      return [{ text: '' }]
    case 'space':
      return [{ text: ' ' }]
    default:
      return reasoningMissing satisfies never
  }
}

/** Returns the positions of the answers whose reasoning goes back. A user message begins a turn. */
function findReturning(
  messages: readonly ChatMessage[],
  { reasoningHistory }: Profile,
): ReadonlySet<number> {
  if (reasoningHistory === 'none') return new Set()
  const turns: number[][] = [[]]
  messages.forEach((message, index) => {
    if (message.role === 'user') turns.push([])
    else if (message.role === 'assistant') turns.at(-1)?.push(index)
  })
  const hasCalls = (index: number) => listCalls(messages[index] as ChatMessage).length > 0
  const returning =
    reasoningHistory === 'turn'
      ? turns.slice(-1)
      : reasoningHistory === 'calls'
        ? turns.filter((turn) => turn.some(hasCalls))
        : turns
  return new Set(returning.flat())
}

/** Writes the reasoning that goes back into the message, under the name that the upstream reads. */
export function addReasoning(written: WrittenMessage, profile: Profile): WrittenMessage {
  const { message, reasoning = [] } = written
  if (reasoning.length === 0) return written
  const form = pickForm(reasoning, profile)
  const text = reasoning.map((past) => past.text).join('')
  return { ...written, message: { ...message, ...render(form, { message, reasoning, text }) } }
}

function pickForm(reasoning: readonly PastReasoning[], { reasoningField }: Profile): ReasoningForm {
  if (reasoningField !== 'auto') return reasoningField
  return reasoning.find(({ form }) => form !== undefined)?.form ?? 'reasoning_content'
}

interface Rendered {
  readonly message: ChatMessage
  readonly reasoning: readonly PastReasoning[]
  readonly text: string
}

function render(form: ReasoningForm, { message, reasoning, text }: Rendered): JsonObject {
  switch (form) {
    case 'reasoning_content':
    case 'reasoning':
      return { [form]: text }
    case 'reasoning_details':
      return { reasoning_details: joinPieces(reasoning.flatMap(toDetails)).filter(isAccepted) }
    case 'chunks':
      return { content: [...reasoning.flatMap(toChunks), ...listContentParts(message.content)] }
    case 'tags':
      return { content: addTags(message.content, reasoning) }
    default:
      return form satisfies never
  }
}

/**
 * Unsigned text of Claude and of Gemini is refused behind OpenRouter:
 * https://github.com/OpenRouterTeam/ai-sdk-provider
 */
const signedFormats: ReadonlySet<unknown> = new Set(['anthropic-claude-v1', 'google-gemini-v1'])

function toDetails({ form, text, entries = [] }: PastReasoning): readonly JsonObject[] {
  if (form === 'reasoning_details') return entries.filter(isObject)
  return text === '' ? [] : [{ type: 'reasoning.text', text }]
}

function isAccepted({ type, format, signature }: JsonObject): boolean {
  return type !== 'reasoning.text' || !signedFormats.has(format) || Boolean(signature)
}

function toChunks({ form, text, entries }: PastReasoning): readonly JsonObject[] {
  if (form === 'chunks' && entries) return entries.filter(isObject)
  if (text === '') return []
  return [{ type: 'thinking', thinking: [{ type: 'text', text }], closed: true }]
}

function addTags(content: ChatMessage['content'], reasoning: readonly PastReasoning[]): unknown {
  const block = reasoning.map(({ text, gap = '' }) => `<think>${text}</think>${gap}`).join('')
  return Array.isArray(content)
    ? [{ type: 'text', text: block }, ...content]
    : block + (content ?? '')
}
