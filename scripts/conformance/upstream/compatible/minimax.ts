import { isRecord } from '../json-schema.ts'
import type { AnswerForm } from '../openai/answer.ts'
import { reasoning } from '../scenario.ts'
import {
  findLateSystem,
  findMessage,
  findNoParameters,
  findStrayResult,
  findUnanswered,
} from './find.ts'
import { toDetailsForm } from './form.ts'
import type { Body, Message } from './request.ts'
import { calling, empty, result, system, thoughts, tool, user } from './samples.ts'
import { callsFromThoughts } from './thoughts.ts'
import type { CompatibleUpstream } from './upstream.ts'

const details = { reasoning_details: [{ type: 'reasoning.text', text: thoughts }] }

/** MiniMax M3: https://platform.minimax.io/docs/api-reference/text-openai-api */
export const minimax: CompatibleUpstream = {
  name: 'minimax',
  model: 'MiniMax-M3',
  thinks,
  form: (body) => ({ ...toForm(body), hasDone: false }),
  // https://github.com/temm1e-labs/temm1e/issues/59
  toError: ({ status, message }) => ({
    type: 'error',
    error: {
      type: status === 429 ? 'rate_limit_error' : 'bad_request_error',
      message,
      http_code: String(status),
    },
  }),
  rules: [
    {
      demand: 'one system message, at the beginning',
      source: 'https://github.com/temm1e-labs/temm1e/issues/59',
      words: 'invalid params, chat content has invalid message role: system (2013)',
      find: findLateSystem,
      breaks: { messages: [user, system] },
      keeps: { messages: [system, user] },
    },
    {
      demand: 'every call has its result directly behind it',
      source: 'https://platform.minimax.io/docs/guides/text-m2-function-call',
      words: 'invalid params, tool call result does not follow tool call (2013)',
      find: findUnanswered,
      breaks: { messages: [user, calling(details), user, result()] },
      keeps: { messages: [user, calling(details), result(), user] },
    },
    {
      demand: 'every result has its call',
      source: 'https://github.com/MiniMax-AI/MiniMax-M2/issues/76',
      words: "invalid params, tool result's tool id(%s) not found (2013)",
      find: findStrayResult,
      breaks: { messages: [user, result()] },
      keeps: { messages: [user, calling(details), result()] },
    },
    {
      demand: 'a tool has parameters',
      source: 'https://github.com/QwenLM/qwen-code/issues/11905',
      words: 'invalid params, function parameters is empty (2013)',
      find: findNoParameters,
      breaks: { tools: [{ type: 'function', function: { name: 'weather' } }] },
      keeps: { tools: [tool('weather', empty)] },
    },
    {
      demand: 'thinking is adaptive or disabled',
      source: 'https://github.com/CherryHQ/cherry-studio/issues/16431',
      words: 'invalid params, invalid thinking.type: "%s" (allowed: adaptive, disabled) (2013)',
      find: (body) => {
        const type = readThinking(body)
        return type === undefined || ['adaptive', 'disabled'].includes(type) ? undefined : type
      },
      breaks: { thinking: { type: 'enabled' } },
      keeps: { thinking: { type: 'adaptive' } },
    },
    {
      demand: 'reasoning comes back as it was',
      source: 'https://platform.minimax.io/docs/guides/text-m2-function-call',
      words: 'the reasoning of message %s is not that of the answer',
      effect: 'lost-proof',
      find: (body) =>
        thinks(body)
          ? findMessage(body, (message) => callsFromThoughts(message) && !holdsThoughts(message))
          : undefined,
      breaks: { messages: [user, calling(), result()] },
      keeps: { messages: [user, calling(details), result()] },
    },
  ],
}

/** As entries, or as a block of the content: the way in which it came. */
function holdsThoughts({ content, reasoning_details: entries }: Message): boolean {
  if (typeof content === 'string' && content.startsWith(toBlock(reasoning))) return true
  const texts = Array.isArray(entries) ? entries.filter(isRecord).map(({ text }) => text) : []
  return texts.join('') === reasoning
}

function toBlock(given: string): string {
  return `<think>\n${given}\n</think>\n\n`
}

const split = toDetailsForm({ format: 'MiniMax-response-v1', proof: 'none' })

/** Reasoning is a block of the content unless the request splits it. */
function toForm({ reasoning_split: isSplit }: Body): AnswerForm {
  if (isSplit === true) return split
  return {
    message: ({ text, thoughts: given }) => ({ content: `${given && toBlock(given)}${text}` }),
    // The block ends with the last piece.
    thought: (piece) => ({
      content: `${reasoning.startsWith(piece) ? '<think>\n' : ''}${piece}${reasoning.endsWith(piece) ? '\n</think>\n\n' : ''}`,
    }),
    text: (piece) => ({ content: piece }),
    hasDone: false,
  }
}

function readThinking({ thinking }: Body): string | undefined {
  return isRecord(thinking) ? String(thinking['type']) : undefined
}

/** On unless it is turned off. */
function thinks(body: Body): boolean {
  return readThinking(body) !== 'disabled'
}
