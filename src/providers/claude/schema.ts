import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { AllOfResolver } from './all-of.ts'
import { isSimplePattern } from './pattern.ts'

/**
 * Converts a JSON schema into the subset that Claude models enforce, for answers and for the parameters of
 * strict tools. As in the official SDK, every object is closed, `oneOf` becomes `anyOf`, and other
 * constraints move into the description, where the model still reads them.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
export function toClaudeSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const resolver = new AllOfResolver(schema)
  return convert(schema)

  function convert(given: unknown): unknown {
    if (!isObject(given)) return given
    const written = resolver.resolve(given)
    const kept: [string, unknown][] = []
    const moved: string[] = []
    for (const [keyword, value] of Object.entries(written)) {
      if (plain.has(keyword)) kept.push([keyword, value])
      else if (single.has(keyword)) kept.push([keyword, convert(value)])
      else if (lists.has(keyword)) kept.push([keyword, convertList(value)])
      else if (maps.has(keyword)) kept.push([keyword, convertMembers(value)])
      else if (isEnforced(keyword, value)) kept.push([keyword, value])
      else if (keyword === 'oneOf' && !written['anyOf']) kept.push(['anyOf', convertList(value)])
      else if (!rewritten.has(keyword)) moved.push(`${keyword}: ${JSON.stringify(value)}`)
    }
    const texts = [written['description'] ?? '', moved.join(', ')].filter((text) => text !== '')
    if (texts.length > 0) kept.push(['description', texts.join('\n\n')])
    if (isObjectSchema(written)) kept.push(['additionalProperties', false])
    return Object.fromEntries(kept)
  }

  function convertList(schemas: unknown): unknown {
    return Array.isArray(schemas) ? schemas.map(convert) : schemas
  }

  function convertMembers(schemas: unknown): unknown {
    if (!isObject(schemas)) return schemas
    const entries = Object.entries(schemas)
    return Object.fromEntries(entries.map(([name, member]) => [name, convert(member)]))
  }
}

/** The supported keywords, by what their value is: no schema, a schema, a list of them, or a map of them. */
const plain: ReadonlySet<string> = new Set([
  'type',
  'required',
  'const',
  '$ref',
  'title',
  'default',
])
const single: ReadonlySet<string> = new Set(['items'])
const lists: ReadonlySet<string> = new Set(['anyOf', 'allOf'])
const maps: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])

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
  switch (keyword) {
    case 'format':
      return formats.has(value)
    case 'minItems':
      return value === 0 || value === 1
    case 'enum':
      return !Array.isArray(value) || !value.some((item) => isObject(item) || Array.isArray(item))
    case 'pattern':
      return isSimplePattern(value)
    default:
      return false
  }
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  if (Array.isArray(type)) return type.includes('object')
  return type === 'object' || isObject(properties)
}
