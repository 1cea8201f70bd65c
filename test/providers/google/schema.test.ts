import { describe, expect, test } from 'vitest'
import { asking, refused, sent } from './support.ts'

type Schema = Record<string, unknown>

function offering(parameters: Schema): object {
  return asking({ tools: [{ type: 'function', function: { name: 'f', parameters } }] })
}

/** The declaration of a function with these parameters, without its name. */
async function declared(parameters: Schema, upstreamId?: string) {
  const { tools } = await sent(offering(parameters), { upstreamId })
  const { name: _, ...schemas } = tools?.[0].functionDeclarations[0] ?? {}
  return schemas
}

/** The OpenAPI form of one property, which it expresses without loss. */
async function property(schema: unknown, more: Schema = {}) {
  const parameters = { type: 'object', properties: { p: schema }, ...more }
  const { parameters: written, ...other } = await declared(parameters)
  expect(other, 'only one form is sent').toEqual({})
  return (written as { properties: Schema }).properties['p']
}

/** Both forms of one property that the OpenAPI form cannot express. */
async function poorProperty(schema: unknown, more: Schema = {}) {
  const parameters = { type: 'object', properties: { p: schema }, ...more }
  const newer = await declared(parameters, 'gemini-2.5-flash')
  const older = await declared(parameters, 'gemini-2.0-flash')
  expect(Object.keys(newer)).toEqual(['parametersJsonSchema'])
  expect(Object.keys(older)).toEqual(['parameters'])
  return {
    json: (newer['parametersJsonSchema'] as { properties: Schema }).properties['p'],
    openApi: (older['parameters'] as { properties: Schema }).properties['p'],
  }
}

describe('the OpenAPI form', () => {
  test.each<[string, unknown, unknown]>([
    ['a type or null', { type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
    [
      'several types',
      { type: ['string', 'integer', 'null'], minLength: 2, minimum: 3, description: 'd' },
      {
        anyOf: [
          { type: 'STRING', minLength: 2, description: 'd', nullable: true },
          { type: 'INTEGER', minimum: 3, description: 'd', nullable: true },
        ],
      },
    ],
    [
      'oneOf',
      { description: 'd', oneOf: [{ type: 'string' }, { type: 'number', description: 'n' }] },
      {
        anyOf: [
          { type: 'STRING', description: 'd' },
          { type: 'NUMBER', description: 'n' },
        ],
      },
    ],
    [
      'a union of one and null',
      { description: 'd', anyOf: [{ type: 'string', description: 's' }, { type: 'null' }] },
      { type: 'STRING', description: 'd', nullable: true },
    ],
    [
      'a union in a union',
      { anyOf: [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'boolean' }] },
      { anyOf: [{ type: 'STRING', nullable: true }, { type: 'BOOLEAN' }] },
    ],
    [
      'a union whose branches differ only in required',
      {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' } },
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      {
        anyOf: ['a', 'b'].map((name) => ({
          type: 'OBJECT',
          properties: { a: { type: 'STRING' }, b: { type: 'STRING' } },
          required: [name],
        })),
      },
    ],
    ['a union of null alone', { anyOf: [{ type: 'null' }] }, { type: 'NULL' }],
    [
      'allOf',
      {
        required: ['c'],
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { c: { type: 'integer' } }, description: 'd' },
        ],
      },
      {
        type: 'OBJECT',
        description: 'd',
        properties: { a: { type: 'STRING' }, c: { type: 'INTEGER' } },
        required: ['a', 'c'],
      },
    ],
    [
      'allOf with one property twice',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string', minLength: 1, maxLength: 9 } } },
          { properties: { a: { minLength: 3, description: 'd' }, b: { type: 'integer' } } },
        ],
      },
      {
        type: 'OBJECT',
        properties: {
          a: { type: 'STRING', description: 'd', minLength: 3, maxLength: 9 },
          b: { type: 'INTEGER' },
        },
      },
    ],
    [
      'allOf with one property twice, inside of it',
      {
        allOf: [
          { properties: { o: { type: 'object', properties: { a: { type: 'string' } } } } },
          { properties: { o: { properties: { b: { type: 'string' } }, required: ['b'] } } },
        ],
      },
      {
        type: 'OBJECT',
        properties: {
          o: {
            type: 'OBJECT',
            properties: { a: { type: 'STRING' }, b: { type: 'STRING' } },
            required: ['b'],
          },
        },
      },
    ],
    [
      'allOf with values, types and bounds',
      {
        type: 'object',
        properties: {
          e: { allOf: [{ enum: ['a', 'b', 'c'] }, { enum: ['b', 'c', 'd'] }] },
          n: {
            allOf: [
              { type: 'number', maximum: 9 },
              { type: 'integer', maximum: 5, minimum: 1 },
            ],
          },
          l: { allOf: [{ type: 'array', items: { type: 'string' } }, { items: { pattern: 'x' } }] },
        },
      },
      {
        type: 'OBJECT',
        properties: {
          e: { type: 'STRING', enum: ['b', 'c'] },
          n: { type: 'INTEGER', minimum: 1, maximum: 5 },
          l: { type: 'ARRAY', items: { type: 'STRING', pattern: 'x' } },
        },
      },
    ],
    [
      'allOf of two unions',
      {
        type: 'object',
        allOf: [
          {
            anyOf: [
              { properties: { a: { type: 'string' } } },
              { properties: { b: { type: 'string' } } },
            ],
          },
          {
            anyOf: [
              { properties: { c: { type: 'string' } } },
              { properties: { d: { type: 'string' } } },
            ],
          },
        ],
      },
      {
        anyOf: [
          ['a', 'c'],
          ['a', 'd'],
          ['b', 'c'],
          ['b', 'd'],
        ].map((names) => ({
          type: 'OBJECT',
          properties: Object.fromEntries(names.map((name) => [name, { type: 'STRING' }])),
        })),
      },
    ],
    [
      'a property beside a union that limits it further',
      {
        type: 'object',
        properties: { k: { type: 'string' } },
        anyOf: [{ properties: { k: { enum: ['a'] } } }, { properties: { k: { enum: ['b'] } } }],
      },
      {
        anyOf: ['a', 'b'].map((value) => ({
          type: 'OBJECT',
          properties: { k: { type: 'STRING', enum: [value] } },
        })),
      },
    ],
    ['a constant string', { const: 'a' }, { type: 'STRING', enum: ['a'] }],
    ['a constant boolean', { const: true }, { type: 'BOOLEAN' }],
    ['a constant null', { const: null }, { type: 'NULL' }],
    ['an enum of strings', { enum: ['a', ''] }, { type: 'STRING', enum: ['a'] }],
    ['an enum of the empty string', { enum: [''] }, { type: 'STRING' }],
    [
      'an enum of strings and null',
      { type: ['string', 'null'], enum: ['a', null] },
      { type: 'STRING', enum: ['a'], nullable: true },
    ],
    [
      'an exclusive bound',
      { type: 'integer', exclusiveMinimum: 0 },
      { type: 'INTEGER', minimum: 1 },
    ],
    [
      'exclusive bounds between integers',
      { type: 'integer', exclusiveMinimum: 0.5, exclusiveMaximum: 9.5 },
      { type: 'INTEGER', minimum: 1, maximum: 9 },
    ],
    [
      'the closer of two bounds',
      { type: 'number', minimum: 1, exclusiveMinimum: 2, maximum: 5, exclusiveMaximum: 4 },
      { type: 'NUMBER', minimum: 2, maximum: 4 },
    ],
    ['bounds of an old draft', { type: 'integer', exclusiveMinimum: true }, { type: 'INTEGER' }],
    ['unknown formats', { type: 'string', format: 'email' }, { type: 'STRING' }],
    [
      'known formats',
      { type: 'string', format: 'date-time' },
      { type: 'STRING', format: 'date-time' },
    ],
    [
      'formats of numbers',
      { type: 'integer', format: 'int64' },
      { type: 'INTEGER', format: 'int64' },
    ],
    ['formats of other types', { type: 'number', format: 'int64' }, { type: 'NUMBER' }],
    ['keywords of other types', { type: 'string', minimum: 1, minItems: 1 }, { type: 'STRING' }],
    [
      'an array without items',
      { type: 'array', maxItems: 3 },
      { type: 'ARRAY', items: { type: 'STRING' }, maxItems: 3 },
    ],
    [
      'undeclared types',
      { items: { enum: ['a'] } },
      { type: 'ARRAY', items: { type: 'STRING', enum: ['a'] } },
    ],
    [
      'required names without properties',
      { properties: { a: { type: 'string' } }, required: ['b'] },
      { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
    ],
    [
      'a false property',
      { properties: { a: { type: 'string' }, b: false }, required: ['b'] },
      { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
    ],
    ['the null of OpenAPI', { type: 'string', nullable: true }, { type: 'STRING', nullable: true }],
    ['types in capitals', { type: 'STRING', pattern: '^a' }, { type: 'STRING', pattern: '^a' }],
    [
      'annotations',
      { type: 'string', title: 't', default: 'a', example: 'b', examples: ['c'], $comment: 'd' },
      { type: 'STRING', title: 't', default: 'a', example: 'b' },
    ],
    [
      'unsupported validation keywords',
      { type: 'array', items: { type: 'number', multipleOf: 2 }, uniqueItems: true, not: {} },
      { type: 'ARRAY', items: { type: 'NUMBER' } },
    ],
  ])('the OpenAPI form expresses %s', async (_, schema, expected) => {
    expect(await property(schema)).toEqual(expected)
  })

  test('propertyOrdering is kept, without names that are not properties', async () => {
    const { parameters } = await declared({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      propertyOrdering: ['b', 'c', 'a'],
    })
    expect(parameters).toMatchObject({ propertyOrdering: ['b', 'a'] })
  })

  test('properties may have the names of keywords, and keep their order', async () => {
    const names = [
      'type',
      'title',
      'format',
      '$ref',
      'required',
      'anyOf',
      'properties',
      '__proto__',
    ]
    const entries = names.map((name) => [name, { type: 'string' }])
    const { parameters } = await declared({
      type: 'object',
      properties: Object.fromEntries(entries),
      required: names,
    })
    const { properties, required } = parameters as { properties: Schema; required: unknown }
    expect(Object.keys(properties)).toEqual(names)
    expect(required).toEqual(names)
  })

  const more = {
    $defs: {
      Guest: {
        type: 'object',
        description: 'A guest',
        properties: { n: { $ref: '#/$defs/Name' } },
      },
      Name: { type: 'string' },
      'a/b~c d': { type: 'boolean' },
    },
  }

  test.each<[string, unknown, unknown]>([
    [
      'through another reference',
      { $ref: '#/$defs/Guest', description: 'Who' },
      { type: 'OBJECT', description: 'Who', properties: { n: { type: 'STRING' } } },
    ],
    ['inside allOf', { allOf: [{ $ref: '#/$defs/Name' }] }, { type: 'STRING' }],
    ['with escapes', { $ref: '#/$defs/a~1b~0c%20d' }, { type: 'BOOLEAN' }],
    [
      'in a union with null',
      { anyOf: [{ $ref: '#/$defs/Name' }, { type: 'null' }] },
      { type: 'STRING', nullable: true },
    ],
  ])('a reference %s is resolved', async (_, schema, expected) => {
    expect(await property(schema, more)).toEqual(expected)
  })

  test.each(['#/$defs/Nobody', 'https://example.com/schema', '#/$defs/Guest/toString', '#anchor'])(
    'the reference %s is refused, because it does not resolve',
    async (pointer) => {
      const request = offering({ type: 'object', properties: { p: { $ref: pointer } }, ...more })
      expect(await refused(request)).toMatchObject({
        code: 'LM-1001',
        param: 'tools.0.function.parameters',
      })
    },
  )

  test.each<[string, Schema]>([
    ['nothing', {}],
    ['an object without properties', { type: 'object', properties: {} }],
    ['an object with any properties', { type: 'object', additionalProperties: true }],
    ['a reference to such an object', { $ref: '#/$defs/E', $defs: { E: { type: 'object' } } }],
  ])('parameters of %s are left out', async (_, parameters) => {
    expect(await declared(parameters)).toEqual({})
  })
})

describe('schemas that the OpenAPI form cannot express', () => {
  test.each<[string, unknown, unknown, unknown]>([
    ['a constant number', { const: 1 }, { type: 'INTEGER' }, { enum: [1] }],
    [
      'an enum of numbers',
      { type: 'number', enum: [1, 2.5] },
      { type: 'NUMBER' },
      { type: 'number', enum: [1, 2.5] },
    ],
    [
      'an enum of several types',
      { type: 'string', enum: ['a', 1, null] },
      { type: 'STRING', nullable: true },
      { type: 'string', enum: ['a', 1] },
    ],
    [
      'a map',
      { type: 'object', additionalProperties: { type: 'integer' } },
      { type: 'OBJECT' },
      { type: 'object', additionalProperties: { type: 'integer' } },
    ],
    [
      'an object with only false properties',
      { properties: { a: false }, additionalProperties: false },
      { type: 'OBJECT' },
      { properties: {}, additionalProperties: false },
    ],
    ['a free object', { type: 'object' }, { type: 'OBJECT' }, { type: 'object' }],
    [
      'a tuple',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
      { type: 'ARRAY', items: { type: 'STRING' } },
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
    ],
    [
      'a tuple of an old draft',
      { type: 'array', items: [{ type: 'string' }, { type: 'integer' }] },
      { type: 'ARRAY', items: { type: 'STRING' } },
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
    ],
    [
      'a schema without a type',
      { description: 'd' },
      { type: 'STRING', description: 'd' },
      { description: 'd' },
    ],
    ['a schema of true', true, { type: 'STRING' }, {}],
    ['an unknown type', { type: 'file' }, { type: 'STRING' }, { type: 'file' }],
  ])(
    '%s is sent as JSON Schema, and simplified for older models',
    async (_, schema, openApi, jsonForm) => {
      expect(await poorProperty(schema)).toEqual({ openApi, json: jsonForm })
    },
  )

  const tree = {
    type: 'object',
    properties: { value: { type: 'string' }, next: { $ref: '#/definitions/Tree' } },
  }

  test('a schema that contains itself is sent as JSON Schema', async () => {
    expect(
      await poorProperty({ $ref: '#/definitions/Tree' }, { definitions: { Tree: tree } }),
    ).toEqual({
      json: { $ref: '#/$defs/Tree' },
      openApi: {
        type: 'OBJECT',
        properties: { value: { type: 'STRING' }, next: { type: 'OBJECT' } },
      },
    })
  })

  test('a self-reference inside an allOf of one is sent as JSON Schema', async () => {
    const wrapped = { allOf: [{ $ref: '#/$defs/Tree' }], description: 'd' }
    const $defs = { Tree: { type: 'object', properties: { next: wrapped } } }
    expect((await poorProperty(wrapped, { $defs })).json).toEqual({ $ref: '#/$defs/Tree' })
  })

  test('a schema that contains itself through allOf is cut off', async () => {
    const next = { allOf: [{ $ref: '#/$defs/Tree' }, { description: 'd' }] }
    const $defs = { Tree: { type: 'object', properties: { next } } }
    expect((await poorProperty(next, { $defs })).json).toEqual({
      type: 'object',
      description: 'd',
      properties: { next: {} },
    })
  })

  test('a schema with every keyword is written as JSON Schema', async () => {
    const { parametersJsonSchema } = await declared({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'root',
      type: 'object',
      title: 'T',
      properties: {
        map: { type: 'object', additionalProperties: true },
        kind: { const: null },
        list: {
          type: ['array', 'null'],
          items: { type: 'integer', exclusiveMaximum: 5 },
          maxItems: 2,
        },
        union: { oneOf: [{ type: 'string', minLength: 1 }, { $ref: '#/definitions/D' }] },
        code: { type: 'string', maxLength: 3, pattern: '^[a-z]+$', default: 'abc' },
        set: { type: 'array', items: { type: 'string' }, uniqueItems: true },
        both: { allOf: [{ type: 'object' }, { properties: { x: { type: 'string' } } }] },
        never: false,
        named: { $ref: '#/definitions/D', description: 'cut' },
      },
      required: ['map'],
      additionalProperties: false,
      definitions: { D: { const: 'd' } },
      $defs: { E: { enum: [true] } },
    })
    expect(parametersJsonSchema).toEqual({
      $id: 'root',
      type: 'object',
      title: 'T',
      properties: {
        map: { type: 'object', additionalProperties: true },
        kind: { type: 'null' },
        list: { type: ['array', 'null'], items: { type: 'integer', maximum: 4 }, maxItems: 2 },
        union: { oneOf: [{ type: 'string', minLength: 1 }, { $ref: '#/$defs/D' }] },
        code: { type: 'string', maxLength: 3, pattern: '^[a-z]+$', default: 'abc' },
        set: { type: 'array', items: { type: 'string' }, uniqueItems: true },
        both: { type: 'object', properties: { x: { type: 'string' } } },
        named: { $ref: '#/$defs/D' },
      },
      required: ['map'],
      additionalProperties: false,
      $defs: { D: { enum: ['d'] }, E: {} },
    })
  })

  test('a response schema that is a map is sent as JSON Schema', async () => {
    const schema = {
      type: 'object',
      properties: { m: { type: 'object', additionalProperties: { type: 'string' } } },
    }
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } }
    const { generationConfig } = await sent(asking({ response_format }))
    expect(generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    })
  })
})

describe('a schema of more parts than are written at once', () => {
  const names = (count: number, letter: string) =>
    Array.from({ length: count }, (_, at) => `${letter}${at}`)
  const members = (keys: readonly string[], make: (key: string) => unknown) =>
    Object.fromEntries(keys.map((key) => [key, make(key)]))
  const outer = [...names(10, 'a'), '__proto__', 'last']
  const inner = names(20, 'b')
  /** Objects in objects, each property of which is one of several types, or null. */
  const wide = (write: (title: string) => unknown, object: object) => ({
    ...object,
    properties: members(outer, (a) => ({
      ...object,
      properties: members(inner, (b) => write(`${a}.${b}`)),
    })),
  })
  const branches = (title: string) => [
    { type: 'string', title },
    { anyOf: [{ type: 'number', title }, { type: 'null' }, { type: 'boolean', title }] },
  ]

  test('keeps its order in the OpenAPI form', async () => {
    const schema = wide((title) => ({ anyOf: branches(title) }), { type: 'object' })
    const { parameters, ...others } = await declared(schema)
    expect(others).toEqual({})
    const expected = wide(
      (title) => ({
        anyOf: [
          { type: 'STRING', title },
          { type: 'NUMBER', title, nullable: true },
          { type: 'BOOLEAN', title, nullable: true },
        ],
      }),
      { type: 'OBJECT' },
    )
    expect(JSON.stringify(parameters)).toBe(JSON.stringify(expected))
  })

  test('keeps its order in the JSON Schema form', async () => {
    const parts = wide((title) => ({ anyOf: branches(title) }), { type: 'object' })
    const schema = {
      ...parts,
      prefixItems: outer.flatMap(branches),
      additionalProperties: { type: 'string' },
      $defs: parts.properties,
    }
    const { parametersJsonSchema: written } = await declared(schema)
    expect(JSON.stringify(written)).toBe(JSON.stringify(schema))
  })
})

describe('hostile schemas', () => {
  /** A chain of definitions: each is made from a reference to the next one. */
  function chain(length: number, link: (next: object) => object): Schema {
    const definitions = Array.from({ length }, (_, at) => [
      `D${at}`,
      link({ $ref: `#/$defs/D${at + 1}` }),
    ])
    return Object.fromEntries([...definitions, [`D${length}`, { type: 'string' }]])
  }

  const first = { properties: { p: { allOf: [{ $ref: '#/$defs/D0' }, {}] } } }

  test.each<[string, Schema]>([
    [
      'doubles with each reference',
      { ...first, $defs: chain(40, (next) => ({ properties: { a: next, b: next } })) },
    ],
    ['doubles by allOf', { ...first, $defs: chain(60, (next) => ({ allOf: [next, next] })) }],
    [
      'is a long chain',
      { ...first, $defs: chain(10_000, (next) => ({ properties: { n: next } })) },
    ],
    ['refers to itself', { properties: { p: { $ref: '#/properties/p' } } }],
    ['is itself', { $ref: '#' }],
  ])('a schema that %s is cut off at the limit', async (_, schema) => {
    for (const upstreamId of ['gemini-2.0-flash', 'gemini-2.5-flash']) {
      const body = await sent(offering(schema), { upstreamId })
      expect(JSON.stringify(body).length).toBeLessThan(2_000_000)
    }
  })
})
