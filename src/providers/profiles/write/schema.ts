import type { Profile } from '../../../core/profile.ts'
import { isObject, type JsonObject } from '../../../wire/json/parse.ts'

/** How much the schemas of one request may grow where copies replace references. Beyond it these stay. */
export interface GrowthBudget {
  references: number
  values: number
}

export function newGrowthBudget(): GrowthBudget {
  return { references: 1000, values: 20_000 }
}

/**
 * Writes the schema of a function's arguments. The root always has `type` and `properties`, which OpenAI
 * demands; identifiers of schemas, which Mistral refuses, are left out.
 */
export function writeSchema(
  schema: unknown,
  { schema: form }: Profile,
  budget: GrowthBudget,
): JsonObject {
  const { $schema: _, $id: __, ...given } = isObject(schema) ? schema : {}
  const root = { ...given, type: 'object', properties: given['properties'] ?? {} }
  switch (form) {
    case 'plain':
      return root
    case 'inline':
      return inlineReferences(root, budget)
    case 'gemini':
      return simplifyNullable(inlineReferences(root, budget)) as JsonObject
    case 'moonshot':
      return completeTypes(root)
    default:
      return form satisfies never
  }
}

/** Replaces references to `$defs` and `definitions` by what they refer to, except for recursive ones. */
function inlineReferences(root: JsonObject, budget: GrowthBudget): JsonObject {
  const definitions = new Map<string, unknown>()
  for (const holder of ['$defs', 'definitions']) {
    const held = root[holder]
    if (!isObject(held)) continue
    for (const [name, schema] of Object.entries(held)) {
      definitions.set(`#/${holder}/${name}`, schema)
    }
  }
  if (definitions.size === 0) return root
  const { $defs: _defs, definitions: _definitions, ...rest } = root
  const open = new Set<string>()
  let hasReferences = false
  const copy = (value: unknown): unknown => {
    if (open.size > 0) budget.values--
    if (Array.isArray(value)) return value.map(copy)
    if (!isObject(value)) return value
    const reference = value['$ref']
    if (typeof reference !== 'string') return mapMembers(value, copy)
    const isKnown = definitions.has(reference) && !open.has(reference)
    if (!isKnown || budget.references <= 0 || budget.values <= 0) {
      hasReferences = true
      return value
    }
    budget.references--
    open.add(reference)
    const target = copy(definitions.get(reference))
    open.delete(reference)
    const { $ref: _, ...beside } = value
    return { ...(isObject(target) ? target : {}), ...beside }
  }
  const inlined = copy(rest) as JsonObject
  return hasReferences ? { ...root, ...inlined } : inlined
}

/** Writes a value that may be null as Gemini reads it: `nullable` beside the one other type. */
function simplifyNullable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplifyNullable)
  if (!isObject(value)) return value
  const schema = mapMembers(value, simplifyNullable)
  const { type, anyOf, ...rest } = schema
  if (Array.isArray(type)) {
    const [only, ...others] = type.filter((each) => each !== 'null')
    if (others.length > 0 || only === undefined || !type.includes('null')) return schema
    return { ...schema, type: only, nullable: true }
  }
  if (!Array.isArray(anyOf)) return schema
  const [only, ...others] = anyOf.filter((each) => !isNull(each))
  if (others.length > 0 || !isObject(only) || !anyOf.some(isNull)) return schema
  return { ...only, ...rest, nullable: true }
}

function isNull(schema: unknown): boolean {
  return isObject(schema) && schema['type'] === 'null'
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
