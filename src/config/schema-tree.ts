import * as z from 'zod'
import type { Path } from './problem.ts'
import { configSchema } from './schema.ts'

/** What a setting holds, as far as a variable's text must be turned into it. */
export type Shape = 'text' | 'number' | 'boolean' | 'list of numbers' | 'list of texts'

/** A setting of the file that is not inside an array of tables. */
export interface Setting {
  readonly path: readonly string[]
  readonly shape: Shape
}

/** The names that a table of the file may hold. Empty where the path leads to no table. */
export function namesIn(table: Path): readonly string[] {
  const schema = table.reduce<z.core.$ZodType | undefined>(memberOf, configSchema)
  return schema === undefined ? [] : Object.keys(members(schema))
}

/** Every name of every table below the top, dotted and without array positions. */
export const dottedNames: readonly string[] = [...nested([], configSchema)].map((path) =>
  path.join('.'),
)

/** Every setting that stands alone or in a table, arrays of tables left out. */
export const plainSettings: readonly Setting[] = [...plain([], configSchema)]

/** What the top level of the file may hold under a name, if anything. */
export function topLevelForm(name: string): 'key' | 'table' | 'array of tables' | undefined {
  const schema = memberOf(configSchema, name)
  if (schema === undefined) return undefined
  if (schema instanceof z.ZodObject) return 'table'
  return isArrayOfTables(schema) ? 'array of tables' : 'key'
}

function* nested(path: readonly string[], table: z.core.$ZodType): Generator<readonly string[]> {
  for (const [name, member] of Object.entries(members(table))) {
    if (path.length > 0) yield [...path, name]
    yield* nested([...path, name], element(bare(member)))
  }
}

function* plain(path: readonly string[], table: z.core.$ZodType): Generator<Setting> {
  for (const [name, wrapped] of Object.entries(members(table))) {
    const member = bare(wrapped)
    if (member instanceof z.ZodObject) yield* plain([...path, name], member)
    else if (!isArrayOfTables(member)) yield { path: [...path, name], shape: shapeOf(member) }
  }
}

function shapeOf(schema: z.core.$ZodType): Shape {
  if (schema instanceof z.ZodArray) {
    return bare(schema.element) instanceof z.ZodNumber ? 'list of numbers' : 'list of texts'
  }
  if (schema instanceof z.ZodNumber) return 'number'
  return schema instanceof z.ZodBoolean ? 'boolean' : 'text'
}

function memberOf(
  schema: z.core.$ZodType | undefined,
  part: string | number,
): z.core.$ZodType | undefined {
  if (schema === undefined) return undefined
  if (typeof part === 'number') return element(schema)
  const member = new Map(Object.entries(members(schema))).get(part)
  return member === undefined ? undefined : bare(member)
}

function isArrayOfTables(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodArray && bare(schema.element) instanceof z.ZodObject
}

function element(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodArray ? bare(schema.element) : schema
}

function members(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> {
  return schema instanceof z.ZodObject ? schema.shape : {}
}

/** A schema without what is wrapped around it for absent values. */
function bare(schema: z.core.$ZodType): z.core.$ZodType {
  const wrapped =
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional
  return wrapped ? bare(schema.unwrap()) : schema
}
