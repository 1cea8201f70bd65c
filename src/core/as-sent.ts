import * as z from 'zod'
import { schemaMessages } from './invalid-field.ts'

/*
 * Schemas that only look at what a client has sent. What they give out is not used, since a copy takes
 * time and memory for all the members that nobody reads, and loses some, such as one called `__proto__`.
 */

/** The value itself, if the schema takes it. */
export function validateAsSent<Value>(
  schema: z.ZodType<Value>,
  value: unknown,
): z.ZodSafeParseResult<Value> {
  const read = schema.safeParse(value, schemaMessages)
  // The schema has found in it what the type says, and has changed nothing.
  return read.success ? { success: true, data: value as Value } : read
}

type Loose<Shape extends z.ZodRawShape> = z.infer<z.ZodObject<Shape, z.core.$loose>>

/** An object of which only these members are read. For `validateAsSent`: others do not come out of it. */
export function loose<Shape extends z.ZodRawShape>(shape: Shape): z.ZodType<Loose<Shape>> {
  return z.object(shape) as unknown as z.ZodType<Loose<Shape>>
}

/**
 * An array of at least `least` items, read up to the first wrong one. `z.array` would report every one
 * of them, which takes seconds, and more memory than there is, for a body of millions.
 */
export function list<Item>(item: z.ZodType<Item>, minItems = 0): z.ZodType<Item[]> {
  const read = z.unknown().check(({ value, issues }) => {
    if (!Array.isArray(value)) {
      issues.push({ code: 'invalid_type', expected: 'array', input: value })
      return
    }
    if (value.length < minItems) {
      issues.push({ code: 'too_small', origin: 'array', minimum: minItems, input: value })
    }
    for (let index = 0; index < value.length; index++) {
      const input: unknown = value[index]
      const { success, error } = item.safeParse(input, schemaMessages)
      if (success) continue
      const [issue] = error.issues
      // A finished issue is a raw one with its message settled.
      issues.push({
        ...issue,
        input,
        path: [index, ...(issue?.path ?? [])],
      } as z.core.$ZodRawIssue)
      return
    }
  })
  return read as z.ZodType<unknown> as z.ZodType<Item[]>
}
