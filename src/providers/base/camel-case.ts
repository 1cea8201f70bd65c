import { isObject } from '../../wire/json/parse.ts'

/** Returns a JSON value with the names of all members in camel case: `aspect_ratio` becomes `aspectRatio`. */
export function toCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelCase)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, member]) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    toCamelCase(member),
  ])
  return Object.fromEntries(entries)
}
