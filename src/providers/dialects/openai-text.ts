import { utf8Length } from '../../wire/utf8.ts'
import { isObject } from './openai-usage.ts'

/** True when a message or delta says anything to the user: text, reasoning, refusal, a call, audio. */
export function saysAnything(delta: Record<string, unknown>): boolean {
  return (
    isFilled(delta['content']) ||
    isFilled(delta['reasoning_content']) ||
    isFilled(delta['reasoning']) ||
    isFilled(delta['reasoning_details']) ||
    isFilled(delta['refusal']) ||
    isFilled(delta['tool_calls']) ||
    isObject(delta['function_call']) ||
    isObject(delta['audio'])
  )
}

/** UTF-8 bytes of the text that a message or delta generates, calls and reasoning included. */
export function generatedBytes(delta: Record<string, unknown>): number {
  // The same reasoning often comes under two names; it was generated once.
  const reasoning = delta['reasoning_content'] ?? delta['reasoning']
  return (
    bytesOf(delta['content']) + bytesOf(reasoning) + bytesOf(delta['refusal']) + callBytes(delta)
  )
}

function isFilled(value: unknown): boolean {
  return (typeof value === 'string' || Array.isArray(value)) && value.length > 0
}

/** Text, or the parts of text that some vendors send instead (Mistral's thinking nests once). */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return utf8Length(value)
  if (!Array.isArray(value)) return 0
  let bytes = 0
  for (const part of value) {
    if (isObject(part)) bytes += bytesOf(part['text']) + bytesOf(part['thinking'])
  }
  return bytes
}

function callBytes(delta: Record<string, unknown>): number {
  const calls = delta['tool_calls']
  let bytes = functionBytes(delta['function_call'])
  if (!Array.isArray(calls)) return bytes
  for (const call of calls) {
    if (isObject(call)) bytes += functionBytes(call['function']) + functionBytes(call['custom'])
  }
  return bytes
}

function functionBytes(called: unknown): number {
  if (!isObject(called)) return 0
  return bytesOf(called['name']) + bytesOf(called['arguments']) + bytesOf(called['input'])
}
