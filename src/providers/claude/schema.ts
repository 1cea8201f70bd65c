import { isObject } from '../../wire/json.ts'
import type { JsonObject } from '../canonical/messages.ts'

/**
 * Converts a JSON schema into the subset that Claude models enforce. As in the official SDK, every
 * object is closed, `oneOf` becomes `anyOf`, and other constraints move into the description, where
 * the model still reads them.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
export function toClaudeSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const kept: [string, unknown][] = []
  const moved: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    const convert = keywords.get(keyword)
    if (convert) kept.push([keyword, convert(value)])
    else if (isEnforced(keyword, value)) kept.push([keyword, value])
    else if (keyword === 'oneOf' && !schema['anyOf']) kept.push(['anyOf', convertList(value)])
    else if (!rewritten.has(keyword)) moved.push(`${keyword}: ${JSON.stringify(value)}`)
  }
  const texts = [schema['description'] ?? '', moved.join(', ')].filter((text) => text !== '')
  if (texts.length > 0) kept.push(['description', texts.join('\n\n')])
  if (isObjectSchema(schema)) kept.push(['additionalProperties', false])
  return Object.fromEntries(kept)
}

const keep = (value: unknown) => value

/** The supported keywords, each with the conversion of its value. */
const keywords: ReadonlyMap<string, (value: unknown) => unknown> = new Map([
  ['type', keep],
  ['required', keep],
  ['enum', keep],
  ['const', keep],
  ['$ref', keep],
  ['title', keep],
  ['default', keep],
  ['items', toClaudeSchema],
  ['anyOf', convertList],
  ['allOf', convertList],
  ['properties', convertMembers],
  ['$defs', convertMembers],
])

/** The keywords that the loop leaves out: two are written after it, `$schema` means nothing here. */
const rewritten: ReadonlySet<string> = new Set(['description', 'additionalProperties', '$schema'])

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

/** Whether the vendor enforces a keyword that it supports with some values only. */
function isEnforced(keyword: string, value: unknown): boolean {
  if (keyword === 'format') return formats.has(value)
  return keyword === 'minItems' && (value === 0 || value === 1)
}

function convertList(schemas: unknown): unknown {
  return Array.isArray(schemas) ? schemas.map(toClaudeSchema) : schemas
}

function convertMembers(schemas: unknown): unknown {
  if (!isObject(schemas)) return schemas
  const entries = Object.entries(schemas)
  return Object.fromEntries(entries.map(([name, schema]) => [name, toClaudeSchema(schema)]))
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  if (Array.isArray(type)) return type.includes('object')
  return type === 'object' || isObject(properties)
}
