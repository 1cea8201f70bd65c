import { isRecord } from '../json-schema.ts'
import type { AnswerForm } from '../openai/answer.ts'
import { isThoughtCall, signCall, signThoughts, verifyCall, verifyThoughts } from '../proofs.ts'
import { findMessage, findName, listCalls, listCurrentTurn } from './find.ts'
import { toDetailsForm } from './form.ts'
import type { Body, Message } from './request.ts'
import { calling, result, thoughts, tool, user } from './samples.ts'
import type { CompatibleUpstream } from './upstream.ts'

const gemini = 'google/gemini-3-pro-preview--say'
const claude = 'anthropic/claude-opus-4.5--say'

const reasoningPage =
  'https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks'

const encrypted = {
  type: 'reasoning.encrypted',
  data: signCall(),
  id: 'call_thought_1',
  format: 'google-gemini-v1',
}
const signed = {
  type: 'reasoning.text',
  text: thoughts,
  signature: signThoughts(thoughts, false),
  format: 'anthropic-claude-v1',
}

/** Gemini 3 and Claude behind OpenRouter: https://openrouter.ai/docs/api-reference/chat-completion */
export const openrouter: CompatibleUpstream = {
  name: 'openrouter',
  model: 'google/gemini-3-pro-preview',
  thinks,
  form: (body) => forms[isGemini(body) ? 'gemini' : 'claude'],
  toError: ({ status, message }) => ({ error: { message, code: status } }),
  rules: [
    {
      demand: 'an effort is a word of the list',
      source: 'https://openrouter.ai/docs/use-cases/reasoning-tokens',
      words:
        'reasoning.effort: Invalid option: expected one of "xhigh"|"high"|"medium"|"low"|"minimal"|"none", received "%s"',
      find: (body) => {
        const effort = readReasoning(body)['effort'] ?? body['reasoning_effort']
        return effort === undefined || efforts.has(effort) ? undefined : String(effort)
      },
      breaks: { model: claude, reasoning: { effort: 'max' } },
      keeps: { model: claude, reasoning: { effort: 'xhigh' } },
    },
    {
      demand: 'Gemini 3 wants the encrypted reasoning of every call back',
      source: 'https://github.com/microsoft/agent-framework/issues/2947',
      words:
        'Provider returned error: Gemini models require OpenRouter reasoning details to be preserved in each request. Please refer to our docs: https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning-blocks. Upstream error: Function call is missing a thought_signature in functionCall parts (message %s).',
      find: (body) =>
        isGemini(body)
          ? findMessage(body, (message) => hasThoughtCalls(message) && !isEncrypted(message))
          : undefined,
      breaks: { model: gemini, messages: [user, calling(), result()] },
      keeps: {
        model: gemini,
        messages: [user, calling({ reasoning_details: [encrypted] }), result()],
      },
    },
    {
      demand: 'Claude wants the signed reasoning of the current turn back',
      source: reasoningPage,
      words:
        'Provider returned error: messages.%s.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.',
      find: (body) =>
        isGemini(body) || !thinks(body)
          ? undefined
          : listCurrentTurn(body).find(
              ([, message]) =>
                hasThoughtCalls(message) && findEntry(message, 'reasoning.text') === undefined,
            )?.[0],
      breaks: {
        model: claude,
        reasoning: { effort: 'high' },
        messages: [user, calling(), result()],
      },
      keeps: {
        model: claude,
        reasoning: { effort: 'high' },
        messages: [user, calling({ reasoning_details: [signed] }), result()],
      },
    },
    {
      demand: 'a signature fits its text',
      source: reasoningPage,
      words:
        'Provider returned error: messages.%s.content.0: Invalid `signature` in `thinking` block',
      find: (body) =>
        findMessage(body, (message) => {
          const { text, signature } = findEntry(message, 'reasoning.text') ?? {}
          if (typeof signature !== 'string') return false
          return !verifyThoughts({ text: String(text), hasVeiled: false, signature })
        }),
      breaks: {
        model: claude,
        messages: [user, calling({ reasoning_details: [{ ...signed, text: 'else' }] }), result()],
      },
      keeps: {
        model: claude,
        messages: [user, calling({ reasoning_details: [signed] }), result()],
      },
    },
    {
      demand: 'names of tools have 64 characters at most with Gemini',
      source: 'https://ai.google.dev/api/caching#FunctionDeclaration',
      words:
        'Provider returned error: Invalid function name: %s. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.',
      find: (body) =>
        isGemini(body) ? findName(body, /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/) : undefined,
      breaks: { model: gemini, tools: [tool('n'.repeat(65))] },
      keeps: { model: gemini, tools: [tool('n'.repeat(64))] },
    },
  ],
}

const forms: Readonly<Record<'gemini' | 'claude', AnswerForm>> = {
  gemini: toDetailsForm({ format: 'google-gemini-v1', proof: 'encrypted' }),
  claude: toDetailsForm({ format: 'anthropic-claude-v1', proof: 'signature' }),
}

const efforts: ReadonlySet<unknown> = new Set(['xhigh', 'high', 'medium', 'low', 'minimal', 'none'])

function isGemini({ model }: Body): boolean {
  return model.startsWith('google/')
}

/** Gemini 3 always thinks; Claude on request. */
function thinks(body: Body): boolean {
  if (isGemini(body)) return true
  const { effort = body['reasoning_effort'], enabled, max_tokens: budget } = readReasoning(body)
  const isAsked = effort !== undefined && effort !== 'none'
  return isAsked || enabled === true || typeof budget === 'number'
}

function readReasoning({ reasoning }: Body): Readonly<Record<string, unknown>> {
  return isRecord(reasoning) ? reasoning : {}
}

function hasThoughtCalls(message: Message): boolean {
  return message.role === 'assistant' && listCalls(message).some(({ id }) => isThoughtCall(id))
}

function findEntry(message: Message, type: string): Readonly<Record<string, unknown>> | undefined {
  const { reasoning_details: entries } = message
  return Array.isArray(entries)
    ? entries.filter(isRecord).find((each) => each['type'] === type)
    : undefined
}

/** The encrypted entry belongs to the first call of the answer. */
function isEncrypted(message: Message): boolean {
  const { data, id } = findEntry(message, 'reasoning.encrypted') ?? {}
  return typeof data === 'string' && verifyCall(data) && id === listCalls(message)[0]?.id
}
