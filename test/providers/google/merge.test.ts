import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeSchemas } from '../../../src/providers/google/schema/merge.ts'

const name = fc.constantFrom('a', 'b', 'c')
const leaf = fc.constantFrom({ type: 'string' }, { type: 'integer' }, true, false)

/** Schemas that share keywords, some of them with values that no schema has. */
const schema = fc.record(
  {
    type: fc.constantFrom('object', 'array'),
    properties: fc.oneof(fc.dictionary(name, leaf), fc.constant('odd')),
    required: fc.oneof(fc.array(name), fc.constant(7)),
    allOf: fc.array(leaf, { maxLength: 2 }),
    minProperties: fc.integer({ min: 0, max: 9 }),
    title: name,
  },
  { requiredKeys: [] },
)

test('many schemas are merged as one after the other, and none is changed', () => {
  fc.assert(
    fc.property(fc.array(schema, { minLength: 2, maxLength: 6 }), (schemas) => {
      const before = structuredClone(schemas)
      const [first, ...others] = schemas
      const merged = others.reduce((one, other) => mergeSchemas([one, other]).schema, first ?? {})
      const required = (value: unknown) => (Array.isArray(value) ? [...new Set(value)] : value)
      const whole = mergeSchemas(schemas).schema
      expect({ ...whole, required: required(whole['required']), allOf: undefined }).toEqual({
        ...merged,
        required: required(merged['required']),
        allOf: undefined,
      })
      expect(schemas).toEqual(before)
    }),
  )
})
