import * as z from 'zod'
import type { Path } from './problem.ts'
import { configSchema } from './schema.ts'

/** The type of a setting, to which the text of a variable is converted. */
export type SettingType = 'text' | 'number' | 'boolean' | 'list of numbers' | 'list of texts'

/** A setting of the file that is not inside an array of tables. */
export interface Setting {
  readonly path: readonly string[]
  readonly shape: SettingType
}

/** Lists the settings of a table of the file. Empty when the path is not a table. */
export function listNames(table: Path): readonly string[] {
  const schema = table.reduce<z.core.$ZodType | undefined>(findMember, configSchema)
  return schema === undefined ? [] : Object.keys(listMembers(schema))
}

/** Lists the dotted names of all settings below the top level, without array positions. */
export function listDottedNames(): readonly string[] {
  return [...walkNames([], configSchema)].map((path) => path.join('.'))
}

/** Every setting that is not inside an array of tables. */
export const plainSettings: readonly Setting[] = [...walkPlain([], configSchema)]

/** Returns the form of a top-level setting; undefined when there is no such setting. */
export function getTopLevelForm(name: string): 'key' | 'table' | 'array of tables' | undefined {
  const schema = findMember(configSchema, name)
  if (schema === undefined) return undefined
  if (schema instanceof z.ZodObject) return 'table'
  return isArrayOfTables(schema) ? 'array of tables' : 'key'
}

function* walkNames(path: readonly string[], table: z.core.$ZodType): Generator<readonly string[]> {
  for (const [name, member] of Object.entries(listMembers(table))) {
    if (path.length > 0) yield [...path, name]
    yield* walkNames([...path, name], unwrapArray(unwrap(member)))
  }
}

function* walkPlain(path: readonly string[], table: z.core.$ZodType): Generator<Setting> {
  for (const [name, wrapped] of Object.entries(listMembers(table))) {
    const member = unwrap(wrapped)
    if (member instanceof z.ZodObject) yield* walkPlain([...path, name], member)
    else if (!isArrayOfTables(member)) yield { path: [...path, name], shape: getShape(member) }
  }
}

function getShape(schema: z.core.$ZodType): SettingType {
  if (schema instanceof z.ZodArray) {
    return unwrap(schema.element) instanceof z.ZodNumber ? 'list of numbers' : 'list of texts'
  }
  // A union is of numbers and a word; a text that is no number stays one.
  if (schema instanceof z.ZodNumber || schema instanceof z.ZodUnion) return 'number'
  return schema instanceof z.ZodBoolean ? 'boolean' : 'text'
}

function findMember(
  schema: z.core.$ZodType | undefined,
  part: string | number,
): z.core.$ZodType | undefined {
  if (schema === undefined) return undefined
  if (typeof part === 'number') return unwrapArray(schema)
  const member = new Map(Object.entries(listMembers(schema))).get(part)
  return member === undefined ? undefined : unwrap(member)
}

function isArrayOfTables(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodArray && unwrap(schema.element) instanceof z.ZodObject
}

function unwrapArray(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodArray ? unwrap(schema.element) : schema
}

function listMembers(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> {
  return schema instanceof z.ZodObject ? schema.shape : {}
}

function isTableSchema(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodObject
}

/** Removes the wrappers for absent values from a schema. What may be a table, or an array of them, is that. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const table =
    schema instanceof z.ZodUnion &&
    schema.options.find((option) => isTableSchema(option) || isArrayOfTables(option))
  if (table) return table
  const wrapped =
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional
  return wrapped ? unwrap(schema.unwrap()) : schema
}
