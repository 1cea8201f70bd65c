import { defineMember } from '../../../wire/json/define-member.ts'
import { isSameJson } from '../../../wire/json/equality.ts'
import { isObject, type JsonObject } from '../../../wire/json/parse.ts'

/** One schema in the place of several that all apply. */
export interface Merged {
  readonly schema: JsonObject
  /** Keywords whose values cannot be one: the last one is in the schema. */
  readonly lost: readonly string[]
}

/**
 * Merges schemas that all apply, such as those of an `allOf`. What both limit is limited by both: schemas of one
 * property, or of the items, become an `allOf`, which the writer merges in turn.
 */
export function mergeSchemas(schemas: readonly JsonObject[]): Merged {
  const merged: Record<string, unknown> = {}
  const lost = new Set<string>()
  /** The keywords whose values are made here: they grow in place, since many schemas may add to one. */
  const own = new Set<string>()
  for (const schema of schemas) {
    for (const [keyword, value] of Object.entries(schema)) {
      const known = Object.hasOwn(merged, keyword) ? merged[keyword] : undefined
      const isOwn = own.has(keyword)
      const both = known === undefined ? value : combine(keyword, known, { value, isOwn })
      if (both === undefined) {
        lost.add(keyword)
        own.delete(keyword)
      } else if (both !== value && growing.has(keyword)) own.add(keyword)
      defineMember(merged, keyword, both ?? value)
    }
  }
  if (own.has('required')) merged['required'] = unique(merged['required'])
  return { schema: merged, lost: [...lost] }
}

/** A value that is added to another one, which is one's own where it was made by that. */
interface Added {
  readonly value: unknown
  readonly isOwn: boolean
}

/** Undefined when no value says what both say. */
function combine(keyword: string, one: unknown, { value, isOwn }: Added): unknown {
  if (annotations.has(keyword)) return value
  // What grows is compared once: each comparison takes as long as it is.
  if (!(isOwn && growing.has(keyword)) && isSameJson(one, value)) return value
  return combiners.get(keyword)?.(one, value, isOwn)
}

/** Keywords that limit nothing: the outermost counts. */
const annotations: ReadonlySet<string> = new Set([
  '$anchor',
  '$comment',
  '$id',
  '$schema',
  'default',
  'deprecated',
  'description',
  'example',
  'examples',
  'format',
  'propertyOrdering',
  'readOnly',
  'title',
  'writeOnly',
])

type Combiner = (one: unknown, other: unknown, isOwn: boolean) => unknown

const combiners: ReadonlyMap<string, Combiner> = new Map<string, Combiner>([
  ['$defs', joinMaps],
  ['definitions', joinMaps],
  ['properties', joinMaps],
  ['patternProperties', joinMaps],
  ['items', joinSchemas],
  ['additionalProperties', joinSchemas],
  ['propertyNames', joinSchemas],
  ['allOf', joinLists],
  ['required', joinLists],
  ['anyOf', multiplyUnions],
  ['oneOf', multiplyUnions],
  ['type', intersectTypes],
  ['enum', intersectValues],
  ...['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'].map(
    (name): [string, Combiner] => [name, pick(Math.max)],
  ),
  ...['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'].map(
    (name): [string, Combiner] => [name, pick(Math.min)],
  ),
  ['uniqueItems', (one, other) => one === true || other === true],
])

/** The keywords of which each further schema adds a part. */
const growing: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'properties',
  'patternProperties',
  'allOf',
  'required',
])

function joinMaps(one: unknown, other: unknown, isOwn: boolean): unknown {
  if (!isObject(one) || !isObject(other)) return undefined
  const joined = isOwn ? (one as Record<string, unknown>) : { ...one }
  for (const [name, schema] of Object.entries(other)) {
    const known = Object.hasOwn(one, name) ? one[name] : undefined
    defineMember(
      joined,
      name,
      known === undefined ? schema : (joinSchemas(known, schema) ?? schema),
    )
  }
  return joined
}

/** A property that two schemas describe satisfies both. */
function joinSchemas(one: unknown, other: unknown): unknown {
  if (isSameJson(one, other)) return other
  if (one === false || other === false) return false
  if (one === true) return other
  if (other === true) return one
  return isObject(one) && isObject(other) ? { allOf: [one, other] } : undefined
}

function joinLists(one: unknown, other: unknown, isOwn: boolean): unknown[] | undefined {
  if (!Array.isArray(one) || !Array.isArray(other)) return undefined
  const joined: unknown[] = isOwn ? one : [...one]
  for (const item of other) joined.push(item)
  return joined
}

function unique(list: unknown): unknown {
  return Array.isArray(list) ? [...new Set<unknown>(list)] : list
}

/** More branches would make a schema that models refuse. */
const maxBranches = 32

/** What is in one branch of each of two unions is in one branch of their product. */
export function multiplyUnions(one: unknown, other: unknown): readonly unknown[] | undefined {
  if (!Array.isArray(one) || !Array.isArray(other)) return undefined
  if (one.length * other.length > maxBranches) return undefined
  const product = one.flatMap((left: unknown) =>
    other.map((right: unknown) => joinSchemas(left, right)),
  )
  return product.includes(undefined) ? undefined : product.filter((branch) => branch !== false)
}

function intersectTypes(one: unknown, other: unknown): unknown {
  const [names, others] = [[one].flat(), [other].flat()]
  const both = names.flatMap((name) => {
    if (others.includes(name)) return [name]
    // An integer is a number.
    if (name === 'number' && others.includes('integer')) return ['integer']
    return name === 'integer' && others.includes('number') ? ['integer'] : []
  })
  if (both.length === 0) return undefined
  return both.length === 1 ? both[0] : both
}

function intersectValues(one: unknown, other: unknown): unknown {
  if (!Array.isArray(one) || !Array.isArray(other)) return undefined
  const others = new Set(other.map((value) => JSON.stringify(value)))
  const both = one.filter((value) => others.has(JSON.stringify(value)))
  return both.length > 0 ? both : undefined
}

function pick(choose: (...values: number[]) => number): Combiner {
  return (one, other) =>
    typeof one === 'number' && typeof other === 'number' ? choose(one, other) : undefined
}
