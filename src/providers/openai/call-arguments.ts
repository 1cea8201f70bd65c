import type { RawChoice } from '../../core/frame.ts'
import { isObject } from '../../wire/json/parse.ts'
import { extractTexts, minifyJson } from '../../wire/json/text.ts'

type Json = Record<string, unknown>

/**
 * Lists the choices of an answer or chunk with the arguments of their calls as JSON text. Some upstreams send
 * an object instead; its text is taken from `json`, the answer, since parsing rounds large numbers.
 */
export function listChoices(choices: readonly unknown[], json: string): readonly RawChoice[] {
  if (!choices.some(hasArgumentObject)) return choices.filter(isObject)
  const texts = new Map(members.flatMap((name) => [...extractTexts(json, pathOf('*', name, '*'))]))
  return choices.flatMap((choice, at) => (isObject(choice) ? [writeCalls(choice, at, texts)] : []))
}

/** Chunks have the one, whole answers the other. */
const members = ['delta', 'message'] as const

function hasArgumentObject(choice: unknown): boolean {
  return isObject(choice) && members.some((name) => listCalls(choice[name]).some(hasObject))
}

function listCalls(given: unknown): readonly unknown[] {
  const calls = isObject(given) ? given['tool_calls'] : undefined
  return Array.isArray(calls) ? calls : []
}

function hasObject(call: unknown): call is Json & { function: Json } {
  return isObject(call) && isObject(call['function']) && isObject(call['function']['arguments'])
}

function writeCalls(choice: Json, at: number, texts: ReadonlyMap<string, string>): RawChoice {
  const written = { ...choice }
  for (const name of members) {
    const given = choice[name]
    if (!isObject(given) || !Array.isArray(given['tool_calls'])) continue
    const calls = given['tool_calls'].map((call: unknown, n) => {
      if (!hasObject(call)) return call
      const text = minifyJson(texts.get(pathOf(at, name, n)) ?? '{}')
      return { ...call, function: { ...call.function, arguments: text } }
    })
    written[name] = { ...given, tool_calls: calls }
  }
  return written
}

function pathOf(choice: number | '*', member: string, call: number | '*'): string {
  return `choices.${choice}.${member}.tool_calls.${call}.function.arguments`
}
