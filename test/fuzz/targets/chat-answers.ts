import assert from 'node:assert/strict'
import type {
  AnswerBody,
  AnswerResult,
  ChatEndpoint,
  NativeAnswer,
  NativeEndpoint,
} from '../../../src/core/endpoints.ts'
import type { Usage } from '../../../src/core/usage.ts'
import { bindNative, getKind } from '../../../src/providers/index.ts'
import { readWhole } from '../../../src/wire/json/answer-body.ts'
import { bindChat, dialectTarget } from '../../support/translated-kinds.ts'
import { readAnswers } from '../fixtures.ts'
import type { FuzzTarget } from '../target.ts'
import { call } from './chat-streams.ts'

/*
 * The parsers of the vendors' answers and errors. They never throw, they count the bytes of the text
 * that they return, and what the client gets is JSON.
 */

const words = [
  '"error":',
  '"message":',
  '"usage":',
  '"content":',
  '"code":429',
  '"retryDelay":"1.5s"',
  '"details":[{}]',
  'null',
  '[]',
  '{}',
  '""',
  '-1',
  '1.5',
  '1e400',
  '"\\ud83e"',
  '"__proto__":',
  'true',
]

export const openaiAnswer: FuzzTarget = {
  seeds: [
    '{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}',
    '{"error":{"message":"slow down","type":"rate_limit","code":"insufficient_quota","param":null}}',
  ],
  words: [...words, '"choices":', '"tool_calls":', '"refusal":', '"logprobs":'],
  check: checkChat(chatOf('openai')),
}

export const anthropicAnswer: FuzzTarget = {
  seeds: readAnswers('anthropic'),
  words: [...words, '"type":"tool_use"', '"input":', '"stop_reason":', '"citations":'],
  check: checkChat(chatOf('anthropic')),
}

export const googleAnswer: FuzzTarget = {
  seeds: readAnswers('google'),
  words: [...words, '"candidates":', '"functionCall":', '"args":', '"promptFeedback":'],
  check: checkChat(chatOf('google')),
}

export const bedrockAnswer: FuzzTarget = {
  seeds: readAnswers('bedrock'),
  words: [...words, '"toolUse":', '"output":', '"stopReason":', '"reasoningContent":'],
  check: checkChat(chatOf('bedrock')),
}

export const cohereAnswer: FuzzTarget = {
  seeds: readAnswers('cohere'),
  words: [...words, '"tool_calls":', '"citations":', '"finish_reason":', '"billed_units":'],
  check: checkChat(chatOf('cohere')),
}

export const messagesAnswer: FuzzTarget = {
  ...anthropicAnswer,
  check: checkNative(nativeOf('anthropic', 'messages')),
}

export const responsesAnswer: FuzzTarget = {
  seeds: [
    '{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":3,"output_tokens":1,"total_tokens":4}}',
    '{"status":"failed","error":{"code":"server_error","message":"x"}}',
  ],
  words: [
    ...words,
    '"output":',
    '"type":"output_text"',
    '"status":"queued"',
    '"incomplete_details":',
  ],
  check: checkNative(nativeOf('openai', 'responses')),
}

function chatOf(name: string): ChatEndpoint {
  const endpoint = bindChat(getKind(name))
  assert.ok(endpoint)
  return endpoint
}

function nativeOf(name: string, api: 'messages' | 'responses'): NativeEndpoint {
  const endpoint = bindNative(getKind(name), { ...dialectTarget, speaksResponses: true })[api]
  assert.ok(endpoint)
  return endpoint
}

const estimate: Usage = {
  promptTokens: 1,
  completionTokens: 2,
  totalTokens: 3,
  estimated: true,
  estimatedSide: 'both',
}

const noHeader = () => undefined

function checkChat(endpoint: ChatEndpoint): FuzzTarget['check'] {
  return checkAnswer(endpoint, (body) => endpoint.parseAnswer(body, call, noHeader))
}

function checkNative(endpoint: NativeEndpoint): FuzzTarget['check'] {
  return checkAnswer(endpoint, (body) => endpoint.parseAnswer(body, noHeader))
}

function checkAnswer(
  endpoint: Pick<ChatEndpoint, 'parseError'>,
  parse: (body: AnswerBody) => AnswerResult<NativeAnswer>,
): FuzzTarget['check'] {
  return (input) => {
    const result = parse(readWhole(input))
    if (result.ok) {
      const { output, outputBytes } = result.answer
      assert.equal(outputBytes, Buffer.byteLength(output))
      for (const usage of [estimate, { ...estimate, estimatedSide: undefined }]) {
        JSON.parse(Buffer.from(result.answer.render(usage)).toString())
      }
    }
    const text = Buffer.from(input).toString()
    for (const status of [400, 429, 503]) {
      const error = endpoint.parseError(status, text, noHeader)
      assert.ok(error.status >= 400 && error.status < 600)
      assert.equal(typeof error.message, 'string')
      assert.ok(
        error.retryAfter === undefined ||
          (Number.isFinite(error.retryAfter) && error.retryAfter >= 0),
      )
      assert.ok(JSON.stringify(error.vendor ?? {}).length < 64 * 1024)
    }
  }
}
