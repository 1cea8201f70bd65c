import { isRecord } from '../json-schema.ts'

/** Members whose content is the client's own. */
const freeMembers = new Set([
  'args',
  'response',
  'parametersJsonSchema',
  'responseJsonSchema',
  'example',
  'default',
  'enum',
])

/**
 * Writes the names of a request in camel case. Google also reads them in snake case, as Python's SDK sends them on
 * some paths: https://protobuf.dev/programming-guides/json
 */
export function toCamelNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelNames)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      if (freeMembers.has(name)) return [name, each]
      // The names of a schema's properties are the client's.
      const isProperties = name === 'properties' && isRecord(each)
      return [name, isProperties ? toCamelValues(each) : toCamelNames(each)]
    }),
  )
}

function toCamelValues(properties: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, toCamelNames(schema)]),
  )
}

/** Base64 with either alphabet, padded or not, as proto3 reads bytes in JSON. */
export const bytesPattern = /^[A-Za-z0-9+/_-]*={0,2}$/

/** Writes bytes in the standard alphabet, with padding. */
export function toStandardBase64(data: string): string {
  const digits = data.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/')
  return digits.padEnd(Math.ceil(digits.length / 4) * 4, '=')
}
