import { isObject, type JsonObject } from '../../../wire/json/parse.ts'

/** The two forms of a schema that Gemini reads. */
type SchemaForm = 'openapi' | 'json'

interface LimitingKeyword {
  /** The types that the keyword limits; any when absent. */
  readonly types?: readonly string[]
  /** The only form that lacks the keyword; both when absent. */
  readonly lackedBy?: SchemaForm
  /** False for a value that limits nothing. */
  readonly limits: (value: unknown) => boolean
}

/** Keywords that limit values and that a form cannot express. Bounds, lists and enums are judged elsewhere. */
const limitingKeywords: ReadonlyMap<string, LimitingKeyword> = new Map<string, LimitingKeyword>([
  ['not', { limits: (value) => value === true || isFilled(value) }],
  ['if', { limits: isObject }],
  ['multipleOf', { types: ['number', 'integer'], limits: isPresent }],
  // A bound of an integer becomes the next integer; that of another number becomes inclusive.
  ['exclusiveMinimum', { types: ['number'], limits: isBound }],
  ['exclusiveMaximum', { types: ['number'], limits: isBound }],
  ['uniqueItems', { types: ['array'], lackedBy: 'openapi', limits: (value) => value === true }],
  ['contains', { types: ['array'], limits: isFilled }],
  ['additionalProperties', { types: ['object'], lackedBy: 'openapi', limits: isFilled }],
  ['patternProperties', { types: ['object'], limits: isFilled }],
  ['propertyNames', { types: ['object'], limits: isFilled }],
  ['dependencies', { types: ['object'], limits: isFilled }],
  ['dependentRequired', { types: ['object'], limits: isFilled }],
  ['dependentSchemas', { types: ['object'], limits: isFilled }],
  ['minProperties', { types: ['object'], lackedBy: 'json', limits: isPresent }],
  ['maxProperties', { types: ['object'], lackedBy: 'json', limits: isPresent }],
])

/** Lists the keywords of a schema of this type that limit its values and are not in a form. */
export function listLostKeywords(schema: JsonObject, type: unknown, form: SchemaForm): string[] {
  const lost: string[] = []
  for (const keyword in schema) {
    const rule = limitingKeywords.get(keyword)
    if (!rule || (rule.lackedBy !== undefined && rule.lackedBy !== form)) continue
    if (typeof type === 'string' && rule.types?.includes(type) === false) continue
    if (rule.limits(schema[keyword])) lost.push(keyword)
  }
  return lost
}

/** Draft 4 has booleans in the place of exclusive bounds. */
function isBound(value: unknown): boolean {
  return typeof value === 'number' || value === true
}

function isPresent(value: unknown): boolean {
  return value !== undefined
}

function isFilled(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > 0
}
