import type { ChatRequest } from '../core/chat.ts'
import type { TokenEncoding } from '../core/ports.ts'

/*
 * OpenAI does not publish how tool definitions enter a prompt. These are the figures of OpenAI's
 * cookbook, which are right within a few percent.
 */

const perFunction: Readonly<Record<TokenEncoding, number>> = { o200k_base: 7, cl100k_base: 10 }
const perParameters = 3
const perParameter = 3
const perEnum = -3
const perEnumItem = 3
const perList = 12

/** The texts that tool definitions add to a prompt, and the tokens around them. */
export interface ToolTexts {
  readonly texts: readonly string[]
  readonly overhead: number
}

export function listToolTexts({ tools }: ChatRequest, encoding: TokenEncoding): ToolTexts {
  const texts: string[] = []
  let overhead = tools && tools.length > 0 ? perList : 0
  for (const tool of tools ?? []) {
    overhead += perFunction[encoding]
    const definition = tool['function']
    if (!isObject(definition)) {
      texts.push(JSON.stringify(tool))
      continue
    }
    texts.push(`${readText(definition['name'])}:${readDescription(definition)}`)
    overhead += addParameterTexts(definition['parameters'], texts)
  }
  return { texts, overhead }
}

/** Adds the texts of an object's parameters; returns the tokens around them. */
function addParameterTexts(schema: unknown, texts: string[]): number {
  const properties = isObject(schema) ? schema['properties'] : undefined
  if (!isObject(properties) || Object.keys(properties).length === 0) return 0
  let overhead = perParameters
  for (const [name, property] of Object.entries(properties)) {
    overhead += perParameter
    if (!isObject(property)) continue
    texts.push(`${name}:${readText(property['type'])}:${readDescription(property)}`)
    const choices = property['enum']
    if (Array.isArray(choices)) {
      overhead += perEnum + perEnumItem * choices.length
      for (const choice of choices) texts.push(String(choice))
    }
    overhead += addParameterTexts(property, texts) + addParameterTexts(property['items'], texts)
  }
  return overhead
}

/** Reads a description without its last full stop, as the prompt has it. */
function readDescription({ description }: Readonly<Record<string, unknown>>): string {
  return readText(description).replace(/\.$/, '')
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
