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
    expect(toClaudeSchema({ type: 'string', format: 'regex', minLength: 2 })).toEqual({
      type: 'string',
      description: 'format: "regex", minLength: 2',
    })
    expect(toClaudeSchema({ enum: ['a', { b: 1 }] })).toEqual({
      description: 'enum: ["a",{"b":1}]',
    })
  })

  test.each(['^a$', '^[a-z0-9_]{1,64}$', '\\d+\\.\\w*(ab|c)?'])(
    'the pattern %s stays',
    (pattern) => {
      expect(toClaudeSchema({ type: 'string', pattern })).toEqual({ type: 'string', pattern })
    },
  )

  test.each(['^(?!a)b$', '(?<=a)b', '(?:a|b)', '(a)\\1', '\\bword\\b', '\\p{L}', 'a{1,5000}', 7])(
    'the pattern %s, which the vendor refuses, moves into the description',
    (pattern) => {
      expect(toClaudeSchema({ type: 'string', pattern })).toEqual({
        type: 'string',
        description: `pattern: ${JSON.stringify(pattern)}`,
      })
    },
  )

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

describe('definitions under their older name', () => {
  const point = { type: 'object', properties: { x: { type: 'integer', minimum: 0 } } }

  test('stay where the references find them', () => {
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/definitions/point' } },
      definitions: { point },
    }
    expect(toClaudeSchema(schema)).toEqual({
      ...schema,
      definitions: {
        point: {
          type: 'object',
          properties: { x: { type: 'integer', description: 'minimum: 0' } },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    })
  })

  test('of a whole schema are in its place, if it has a type beside the reference', () => {
    const schema = { type: 'object', $ref: '#/definitions/p', definitions: { p: point } }
    expect(toClaudeSchema(schema)).toMatchObject({ type: 'object', properties: { x: {} } })
    expect(toClaudeSchema(schema)).not.toHaveProperty('$ref')
  })
})

describe('allOf', () => {
  const $defs = {
    base: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    more: {
      allOf: [
        { $ref: '#/$defs/base' },
        { type: 'object', properties: { b: { type: 'null' } }, required: ['b'] },
      ],
    },
  }
  const merge = (schema: object) => {
    const { $defs: _, ...rest } = toClaudeSchema({ ...schema, $defs }) as Record<string, unknown>
    return rest
  }

  test('around one reference is the reference, as Pydantic means it', () => {
    const schema = { allOf: [{ $ref: '#/$defs/base' }], description: 'D', default: {} }
    expect(merge(schema)).toEqual({ description: 'D', default: {}, $ref: '#/$defs/base' })
  })

  test('of a reference and more is one object with the members of all', () => {
    const c = { type: 'object', properties: { c: { type: 'string' } }, required: ['c'] }
    expect(merge({ allOf: [{ $ref: '#/$defs/more' }, c] })).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'null' }, c: { type: 'string' } },
      required: ['a', 'b', 'c'],
      additionalProperties: false,
    })
  })

  test('of objects without references is one object too: closed by themselves they exclude each other', () => {
    const one = { type: 'object', properties: { a: { type: 'string' } } }
    const other = { properties: { a: { minLength: 1 }, b: {} } }
    expect(merge({ allOf: [one, other] })).toEqual({
      type: 'object',
      properties: { a: { type: 'string', description: 'minLength: 1' }, b: {} },
      additionalProperties: false,
    })
  })

  test.each([
    ['contradicts itself', { allOf: [{ $ref: '#/$defs/base' }, { type: 'array' }] }],
    [
      'has a reference that leads nowhere',
      { allOf: [{ $ref: '#/$defs/none' }, { type: 'object' }] },
    ],
    ['has a reference to elsewhere', { allOf: [{ $ref: 'https://x.test/a' }, { type: 'object' }] }],
  ])('that %s stays for the vendor to judge', (_, schema) => {
    expect(merge(schema)).toHaveProperty('allOf')
  })

  test('with references in a circle, or very many, does not hang', () => {
    const names = Array.from({ length: 3000 }, (_, index) => index)
    const chain = Object.fromEntries(
      names.map((index) => [
        `d${index}`,
        {
          allOf: [{ $ref: `#/$defs/d${index + 1}` }, { properties: { [`p${index}`]: {} } }],
        },
      ]),
    )
    const circle = { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }
    const schema = {
      allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/d0' }],
      $defs: { ...circle, ...chain, d3000: { allOf: [{ $ref: '#/$defs/d0' }, {}] } },
    }
    const text = JSON.stringify(toClaudeSchema(schema))
    expect(text.length).toBeLessThan(20 * JSON.stringify(schema).length)
  })
})
