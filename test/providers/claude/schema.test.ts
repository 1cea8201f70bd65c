import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema'
import { describe, expect, test } from 'vitest'
import { toClaudeSchema } from '../../../src/providers/claude/schema.ts'

describe('a JSON schema in the enforced subset', () => {
  test.each([
    [
      'every object is closed',
      { type: 'object', properties: { a: { type: 'object', properties: {} } } },
    ],
    ['a map too', { type: 'object', properties: {}, additionalProperties: { type: 'string' } }],
    ['an array', { type: 'array', items: { type: 'object', properties: {} }, minItems: 1 }],
    ['a list of branches', { anyOf: [{ type: 'object', properties: {} }, { type: 'null' }] }],
    ['oneOf', { oneOf: [{ type: 'string' }, { type: 'null' }] }],
    ['allOf', { allOf: [{ type: 'object', properties: {} }] }],
    [
      'definitions',
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/p' } },
        required: ['a'],
        $defs: { p: { type: 'object', properties: {} } },
      },
    ],
    ['a format', { type: 'string', format: 'date-time' }],
    ['a title and a description', { type: 'string', title: 'T', description: 'D' }],
    ['the dialect', { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'string' }],
  ])('%s, as in the official SDK', (_, schema) => {
    expect(toClaudeSchema(schema)).toEqual(transformJSONSchema(schema))
  })

  test('constraints outside the subset move into the description', () => {
    const schema = { type: 'integer', minimum: 1, maximum: 9, description: 'A digit.' }
    expect(toClaudeSchema(schema)).toEqual({
      type: 'integer',
      description: 'A digit.\n\nminimum: 1, maximum: 9',
    })
    expect(toClaudeSchema({ type: 'array', minItems: 2 })).toEqual({
      type: 'array',
      description: 'minItems: 2',
    })
    expect(toClaudeSchema({ type: 'string', format: 'regex', pattern: '^a$' })).toEqual({
      type: 'string',
      description: 'format: "regex", pattern: "^a$"',
    })
  })

  test('a nullable object is closed too', () => {
    const schema = { type: ['object', 'null'], properties: {} }
    expect(toClaudeSchema(schema)).toEqual({ ...schema, additionalProperties: false })
    expect(toClaudeSchema({ properties: {} })).toEqual({
      properties: {},
      additionalProperties: false,
    })
  })

  test('anyOf stays and oneOf moves into the description where a schema has both', () => {
    const schema = { anyOf: [{ type: 'string' }], oneOf: [{ type: 'null' }] }
    expect(toClaudeSchema(schema)).toEqual({
      anyOf: [{ type: 'string' }],
      description: 'oneOf: [{"type":"null"}]',
    })
  })

  test('properties may be called like keywords or __proto__', () => {
    const names = '{"minimum":{"type":"string"},"__proto__":{"type":"object"},"constructor":{}}'
    const schema = JSON.parse(`{"type":"object","properties":${names}}`)
    expect(JSON.stringify(toClaudeSchema(schema))).toBe(
      '{"type":"object","properties":{"minimum":{"type":"string"},"__proto__":{"type":"object","additionalProperties":false},"constructor":{}},"additionalProperties":false}',
    )
  })

  test('a value that is not a schema passes unchanged', () => {
    expect(toClaudeSchema({ type: 'array', items: true })).toEqual({ type: 'array', items: true })
    expect(toClaudeSchema({ anyOf: 5 })).toEqual({ anyOf: 5 })
  })

  test('the client’s own schema is not modified', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', minLength: 1 } } }
    const before = structuredClone(schema)
    toClaudeSchema(schema)
    expect(schema).toEqual(before)
  })
})
