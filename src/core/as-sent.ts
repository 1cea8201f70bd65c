import * as z from 'zod'
import { schemaMessages } from './invalid-field.ts'

/*
 * Schemas that validate what a client sent without copying it. A copy would cost time and memory for
 * members that the gateway never reads, and would lose some, such as `__proto__`.
 */

/** Validates a value and returns the value itself, not the schema's output. */
export function validateAsSent<Value>(
  schema: z.ZodType<Value>,
  value: unknown,
): z.ZodSafeParseResult<Value> {
  const read = schema.safeParse(value, schemaMessages)
  // The schema has checked the type, and these schemas transform nothing.
  return read.success ? { success: true, data: value as Value } : read
}

type Loose<Shape extends z.ZodRawShape> = z.infer<z.ZodObject<Shape, z.core.$loose>>

/** The schema of an object of which only these members are read. For `validateAsSent` only. */
export function loose<Shape extends z.ZodRawShape>(shape: Shape): z.ZodType<Loose<Shape>> {
  return z.object(shape) as unknown as z.ZodType<Loose<Shape>>
}

/**
 * The schema of an array with at least `minItems` items, validated up to the first invalid one. `z.array`
 * reports every invalid item, which takes seconds and exhausts the memory for a body of millions.
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
      // A finished issue is a raw issue that already has its message.
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
