import { isObject } from '../../wire/json/parse.ts'

/** True when a message or delta has content: text, reasoning, a refusal, a call or audio. */
export function hasContent(delta: Record<string, unknown>): boolean {
  return (
    isNonEmpty(delta['content']) ||
    isNonEmpty(delta['reasoning_content']) ||
    isNonEmpty(delta['reasoning']) ||
    isNonEmpty(delta['reasoning_details']) ||
    isNonEmpty(delta['refusal']) ||
    isNonEmpty(delta['tool_calls']) ||
    isObject(delta['function_call']) ||
    isObject(delta['audio'])
  )
}

/** Joins the generated text of a message or delta, including calls and reasoning. */
export function joinGeneratedText(delta: Record<string, unknown>): string {
  // Vendors often send the same reasoning under both names.
  const reasoning = delta['reasoning_content'] ?? delta['reasoning']
  return (
    joinPartTexts(delta['content']) +
    joinPartTexts(reasoning) +
    joinPartTexts(delta['refusal']) +
    joinCallTexts(delta)
  )
}

function isNonEmpty(value: unknown): boolean {
  return (typeof value === 'string' || Array.isArray(value)) && value.length > 0
}

/** Joins text, or the text parts that some vendors send instead (Mistral nests thinking once). */
function joinPartTexts(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return ''
  let text = ''
  for (const part of value) {
    if (isObject(part)) text += joinPartTexts(part['text']) + joinPartTexts(part['thinking'])
  }
  return text
}

function joinCallTexts(delta: Record<string, unknown>): string {
  const calls = delta['tool_calls']
  let text = joinFunctionTexts(delta['function_call'])
  if (!Array.isArray(calls)) return text
  for (const call of calls) {
    if (isObject(call))
      text += joinFunctionTexts(call['function']) + joinFunctionTexts(call['custom'])
  }
  return text
}

function joinFunctionTexts(called: unknown): string {
  if (!isObject(called)) return ''
  return (
    joinPartTexts(called['name']) +
    joinArguments(called['arguments']) +
    joinPartTexts(called['input'])
  )
}

/** Some vendors send an object instead of its text. */
function joinArguments(value: unknown): string {
  return isObject(value) ? JSON.stringify(value) : joinPartTexts(value)
}
