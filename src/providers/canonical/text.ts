import { isObject } from '../../wire/json.ts'

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

/** The text that a message or delta generates, calls and reasoning included. */
export function generatedText(delta: Record<string, unknown>): string {
  // The same reasoning often comes under two names; it was generated once.
  const reasoning = delta['reasoning_content'] ?? delta['reasoning']
  return textOf(delta['content']) + textOf(reasoning) + textOf(delta['refusal']) + callText(delta)
}

function isFilled(value: unknown): boolean {
  return (typeof value === 'string' || Array.isArray(value)) && value.length > 0
}

/** Text, or the parts of text that some vendors send instead (Mistral's thinking nests once). */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return ''
  let text = ''
  for (const part of value) {
    if (isObject(part)) text += textOf(part['text']) + textOf(part['thinking'])
  }
  return text
}

function callText(delta: Record<string, unknown>): string {
  const calls = delta['tool_calls']
  let text = functionText(delta['function_call'])
  if (!Array.isArray(calls)) return text
  for (const call of calls) {
    if (isObject(call)) text += functionText(call['function']) + functionText(call['custom'])
  }
  return text
}

function functionText(called: unknown): string {
  if (!isObject(called)) return ''
  return textOf(called['name']) + textOf(called['arguments']) + textOf(called['input'])
}
