import { isObject } from '../../wire/json.ts'
import type { JsonObject } from '../canonical/messages.ts'

/**
 * A JSON schema in the subset that Claude models hold their answers to. Every object is closed,
 * `oneOf` becomes `anyOf`, and constraints that cannot be held move into the description, as the
 * official SDK does, so that the model still reads them.
 */
export function claudeSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const kept: [string, unknown][] = []
  const moved: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    const translate = keywords.get(keyword)
    if (translate) kept.push([keyword, translate(value)])
    else if (isHeld(keyword, value)) kept.push([keyword, value])
    else if (keyword === 'oneOf' && !schema['anyOf']) kept.push(['anyOf', listOf(value)])
    else if (!settled.has(keyword)) moved.push(`${keyword}: ${JSON.stringify(value)}`)
  }
  const texts = [schema['description'] ?? '', moved.join(', ')].filter((text) => text !== '')
  if (texts.length > 0) kept.push(['description', texts.join('\n\n')])
  if (isObjectSchema(schema)) kept.push(['additionalProperties', false])
  return Object.fromEntries(kept)
}

const asIs = (value: unknown) => value

/** What becomes of the keywords that stay. */
const keywords: ReadonlyMap<string, (value: unknown) => unknown> = new Map([
  ['type', asIs],
  ['required', asIs],
  ['enum', asIs],
  ['const', asIs],
  ['$ref', asIs],
  ['title', asIs],
  ['default', asIs],
  ['items', claudeSchema],
  ['anyOf', listOf],
  ['allOf', listOf],
  ['properties', namedOf],
  ['$defs', namedOf],
])

/** Keywords that are written at the end, or say nothing that is not said anyway. */
const settled: ReadonlySet<string> = new Set(['description', 'additionalProperties', '$schema'])

const formats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
])

function isHeld(keyword: string, value: unknown): boolean {
  if (keyword === 'format') return formats.has(value)
  return keyword === 'minItems' && (value === 0 || value === 1)
}

function listOf(schemas: unknown): unknown {
  return Array.isArray(schemas) ? schemas.map(claudeSchema) : schemas
}

function namedOf(schemas: unknown): unknown {
  if (!isObject(schemas)) return schemas
  const entries = Object.entries(schemas)
  return Object.fromEntries(entries.map(([name, schema]) => [name, claudeSchema(schema)]))
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  if (Array.isArray(type)) return type.includes('object')
  return type === 'object' || isObject(properties)
}
