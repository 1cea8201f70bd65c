import { isObject } from '../dialects/openai/usage.ts'

/** How far nested schemas are followed; a recursive one ends here. */
const maxDepth = 16

/** A small value that a JSON schema of the common kinds allows: required members only. */
export function sampleOf(schema: unknown, depth = 0): unknown {
  if (!isObject(schema) || depth > maxDepth) return null
  if (schema['const'] !== undefined) return schema['const']
  for (const options of [schema['enum'], schema['examples']]) {
    if (Array.isArray(options) && options.length > 0) return options[0]
  }
  for (const branches of [schema['anyOf'], schema['oneOf'], schema['allOf']]) {
    if (Array.isArray(branches) && branches.length > 0) return sampleOf(branches[0], depth + 1)
  }
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  switch (type) {
    case 'string':
      return 'demo'
    case 'integer':
    case 'number':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1
    case 'boolean':
      return true
    case 'array':
      return [sampleOf(schema['items'], depth + 1)]
    case 'object':
      return sampleObject(schema, depth)
    default:
      return isObject(schema['properties']) ? sampleObject(schema, depth) : null
  }
}

function sampleObject({ properties, required }: Record<string, unknown>, depth: number): object {
  if (!isObject(properties)) return {}
  const names = Array.isArray(required) ? required : Object.keys(properties)
  const members = names.filter(
    (name): name is string => typeof name === 'string' && name in properties,
  )
  return Object.fromEntries(members.map((name) => [name, sampleOf(properties[name], depth + 1)]))
}
