import type { Profile } from '../../../core/profile.ts'
import { isObject } from '../../../wire/json/parse.ts'
import type { JsonObject } from './message.ts'

/**
 * Writes the schema of a function's arguments. The root always has `type` and `properties`, which OpenAI
 * demands; identifiers of schemas, which Mistral refuses, are left out.
 */
export function writeSchema(schema: unknown, { schema: form }: Profile): JsonObject {
  const { $schema: _, $id: __, ...given } = isObject(schema) ? schema : {}
  const root = { ...given, type: 'object', properties: given['properties'] ?? {} }
  switch (form) {
    case 'plain':
    case 'gemini':
      return root
    case 'inline':
      return inlineReferences(root)
    case 'moonshot':
      return completeTypes(root)
    default:
      return form satisfies never
  }
}

/** Copies of referenced schemas, in all. Beyond it references stay. */
const maxCopies = 1000

/** Replaces references to `$defs` and `definitions` by what they refer to, except for recursive ones. */
function inlineReferences(root: JsonObject): JsonObject {
  let copies = 0
  const definitions = new Map<string, unknown>()
  for (const holder of ['$defs', 'definitions']) {
    const held = root[holder]
    if (!isObject(held)) continue
    for (const [name, schema] of Object.entries(held)) {
      definitions.set(`#/${holder}/${name}`, schema)
    }
  }
  const copy = (value: unknown, open: ReadonlySet<string>): unknown => {
    if (Array.isArray(value)) return value.map((item) => copy(item, open))
    if (!isObject(value)) return value
    const reference = value['$ref']
    if (typeof reference === 'string' && definitions.has(reference)) {
      if (open.has(reference) || copies >= maxCopies) return value
      copies++
      const { $ref: _, ...beside } = value
      const target = copy(definitions.get(reference), new Set([...open, reference]))
      return { ...(isObject(target) ? target : {}), ...beside }
    }
    return mapMembers(value, (member) => copy(member, open))
  }
  const inlined = copy(root, new Set()) as JsonObject
  if (JSON.stringify(inlined).includes('"$ref"')) return inlined
  const { $defs: _, definitions: __, ...rest } = inlined
  return rest
}

/**
 * Kimi wants a type on each property, and none beside `anyOf`, whose branches have it:
 * https://github.com/MoonshotAI/kimi-cli
 */
function completeTypes(schema: JsonObject): JsonObject {
  const { type, anyOf, ...rest } = schema
  const members = mapMembers(rest, (member, name) =>
    name === 'properties' && isObject(member)
      ? mapMembers(member, (property) => completeProperty(property))
      : name === 'items' || name === 'additionalProperties'
        ? completeProperty(member)
        : member,
  )
  if (!Array.isArray(anyOf)) return { ...(type !== undefined && { type }), ...members }
  return { ...members, anyOf: anyOf.map((branch) => completeBranch(branch, type)) }
}

function completeBranch(branch: unknown, type: unknown): unknown {
  if (!isObject(branch)) return branch
  const own = type !== undefined && !('type' in branch) && !('$ref' in branch)
  return completeTypes(own ? { type, ...branch } : branch)
}

function completeProperty(property: unknown): unknown {
  if (!isObject(property)) return property
  const isTyped = ['type', 'anyOf', 'oneOf', 'allOf', '$ref'].some((name) => name in property)
  return completeTypes(isTyped ? property : { type: guessType(property), ...property })
}

/** Returns the type that the other members of a schema mean. */
function guessType({ enum: values, const: value, properties, items }: JsonObject): string {
  const example = Array.isArray(values) ? values[0] : value
  if (typeof example === 'number') return Number.isInteger(example) ? 'integer' : 'number'
  if (typeof example === 'boolean') return 'boolean'
  if (properties !== undefined) return 'object'
  return items === undefined ? 'string' : 'array'
}

function mapMembers(
  value: JsonObject,
  map: (member: unknown, name: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, map(member, name)]),
  )
}
