import { describe, expect, test } from 'vitest'
import { readError } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { asking, googleGateway, type Setup, saying } from './support.ts'

type Schema = Record<string, unknown>

interface Asked extends Setup {
  readonly path?: string
}

const older = 'gemini-2.0-flash'
const newer = 'gemini-2.5-flash'

/** The paths that the client of a request finds in `x-gateway-dropped`. */
async function readDropped(body: object, { path = '/v1/chat/completions', ...setup }: Asked) {
  const { get, upstream } = await googleGateway(setup)
  upstream.next(json(saying('{}')))
  const response = await get(path, { method: 'POST', body: JSON.stringify(body) })
  expect(response.status, response.ok ? '' : await response.text()).toBe(200)
  return response.headers.get('x-gateway-dropped')?.split(',') ?? []
}

function toTool(parameters: Schema): object {
  return asking({ tools: [{ type: 'function', function: { name: 'f', parameters } }] })
}

function toFormat(schema: Schema): object {
  const json_schema = { name: 'x', schema }
  return asking({ response_format: { type: 'json_schema', json_schema } })
}

const toolPath = 'tools.0.function.parameters'
const formatPath = 'response_format.json_schema.schema'

const holding = (p: unknown, more: Schema = {}): Schema => ({
  type: 'object',
  properties: { p },
  ...more,
})

const strings = { type: 'array', items: { type: 'string' } }
const closed = { type: 'object', properties: { a: { type: 'string' } } }
const tree = {
  type: 'object',
  properties: { children: { type: 'array', items: { $ref: '#/$defs/Tree' } } },
}

/** What no form can say, because the parts contradict each other, or a form has one place for both. */
const contradictions: readonly (readonly [name: string, schema: Schema, path: string])[] = [
  ['types', holding({ allOf: [{ type: 'string' }, { type: 'integer' }] }), 'properties.p.type'],
  ['values', holding({ allOf: [{ enum: ['a'] }, { enum: ['b'] }] }), 'properties.p.enum'],
  [
    'patterns',
    holding({ type: 'string', allOf: [{ pattern: 'a' }, { pattern: 'b' }] }),
    'properties.p.pattern',
  ],
  [
    'patterns of one property',
    {
      allOf: [holding({ type: 'string', pattern: 'a' }), { properties: { p: { pattern: 'b' } } }],
    },
    'properties.p.pattern',
  ],
]

/** What the OpenAPI form loses of a property, by the path within the schema. */
const lostByOpenApi: readonly (readonly [name: string, schema: Schema, path: string])[] = [
  ['an enum of integers', holding({ type: 'integer', enum: [1, 2] }), 'properties.p.enum'],
  ['an enum of numbers', holding({ type: 'number', enum: [0.5] }), 'properties.p.enum'],
  ['an enum of several types', holding({ enum: ['a', 1] }), 'properties.p.enum'],
  ['an enum with an empty text', holding({ enum: ['', 'a'] }), 'properties.p.enum'],
  ['an enum of objects', holding({ type: 'object', enum: [{}] }), 'properties.p.enum'],
  ['a constant number', holding({ const: 4 }), 'properties.p.const'],
  ['a constant truth', holding({ const: true }), 'properties.p.const'],
  [
    'a tuple',
    holding({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] }),
    'properties.p.prefixItems',
  ],
  [
    'a tuple of an old draft',
    holding({ type: 'array', items: [{ type: 'string' }] }),
    'properties.p.items',
  ],
  [
    'a map',
    holding({ type: 'object', additionalProperties: { type: 'integer' } }),
    'properties.p.additionalProperties',
  ],
  [
    'a map by patterns',
    holding({ type: 'object', patternProperties: { '^x': { type: 'integer' } } }),
    'properties.p.patternProperties',
  ],
  [
    'a schema that contains itself',
    holding({ $ref: '#/$defs/Tree' }, { $defs: { Tree: tree } }),
    '$defs.Tree.properties.children.items.$ref',
  ],
  ['any value', holding({ description: 'anything' }), 'properties.p'],
  ['a list of anything', holding({ type: 'array' }), 'properties.p'],
  ['a multiple', holding({ type: 'integer', multipleOf: 5 }), 'properties.p.multipleOf'],
  [
    'an exclusive bound of a number',
    holding({ type: 'number', exclusiveMinimum: 0 }),
    'properties.p.exclusiveMinimum',
  ],
  ['a set', holding({ ...strings, uniqueItems: true }), 'properties.p.uniqueItems'],
  [
    'what a list contains',
    holding({ ...strings, contains: { const: 'a' } }),
    'properties.p.contains',
  ],
  ['a negation', holding({ type: 'string', not: { const: 'a' } }), 'properties.p.not'],
  [
    'a condition',
    holding({ ...closed, if: { required: ['a'] }, else: { maxProperties: 1 } }),
    'properties.p.if',
  ],
  [
    'names of properties',
    holding({ ...closed, propertyNames: { maxLength: 3 } }),
    'properties.p.propertyNames',
  ],
  [
    'properties that need others',
    holding({ ...closed, dependentRequired: { a: ['b'] } }),
    'properties.p.dependentRequired',
  ],
  [
    'a required name that is no property',
    holding({ ...closed, required: ['b'] }),
    'properties.p.required',
  ],
  [
    'one branch of a union',
    holding({ anyOf: [{ type: 'string' }, { type: 'integer', enum: [1] }] }),
    'properties.p.anyOf.1.enum',
  ],
  [
    'the items of a list',
    holding({ type: 'array', items: { type: 'integer', enum: [1] } }),
    'properties.p.items.enum',
  ],
  [
    'a schema behind a reference',
    holding({ $ref: '#/$defs/Level' }, { $defs: { Level: { type: 'integer', enum: [1] } } }),
    '$defs.Level.enum',
  ],
  ['a map at the root', { type: 'object', additionalProperties: strings }, 'additionalProperties'],
]

const vertexAddress =
  'base_url = "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1"'

describe.each(['google', 'vertex_ai'])(
  'what a schema loses on its way to Gemini 2.0 (%s)',
  (kind) => {
    const setup: Setup = {
      kind,
      upstreamId: older,
      settings: kind === 'vertex_ai' ? vertexAddress : '',
    }

    test.each(lostByOpenApi)('%s is named in x-gateway-dropped', async (_, schema, path) => {
      expect(await readDropped(toTool(schema), setup)).toEqual([`${toolPath}.${path}`])
      expect(await readDropped(toFormat(schema), setup)).toEqual([`${formatPath}.${path}`])
    })
  },
)

describe.each([
  ['older models', { upstreamId: older }],
  ['newer models', { upstreamId: newer }],
])('%s: what parts of a schema contradict each other in', (_, setup) => {
  test.each(contradictions)('%s is named in x-gateway-dropped', async (__, schema, path) => {
    expect(await readDropped(toTool(schema), setup)).toEqual([`${toolPath}.${path}`])
    expect(await readDropped(toFormat(schema), setup)).toEqual([`${formatPath}.${path}`])
  })
})

test('newer models: limits beside a reference stay, with the definition in its place', async () => {
  const named = { $ref: '#/$defs/Name', maxLength: 3, additionalProperties: { type: 'string' } }
  const $defs = { Name: { type: 'string', minLength: 1 } }
  const map = holding({ type: 'object', additionalProperties: named }, { $defs })
  const { get, upstream } = await googleGateway({ upstreamId: newer })
  upstream.next(json(saying('{}')))
  const body = JSON.stringify(toTool(map))
  const response = await get('/v1/chat/completions', { method: 'POST', body })
  expect(response.headers.get('x-gateway-dropped')).toBe(null)
  expect(JSON.stringify(upstream.body())).toContain(
    '"additionalProperties":{"type":"string","minLength":1,"maxLength":3',
  )
})

test.each(lostByOpenApi)('a strict provider refuses %s for Gemini 2.0', async (_, schema, path) => {
  const setup = { upstreamId: older, strict: true }
  for (const [body, start] of [
    [toTool(schema), toolPath],
    [toFormat(schema), formatPath],
  ] as const) {
    const { chat, upstream } = await googleGateway(setup)
    const response = await chat(body)
    expect(response.status).toBe(400)
    expect(await readError(response)).toMatchObject({ code: 'LM-1001', param: `${start}.${path}` })
    expect(upstream.requests).toEqual([])
  }
})

test.each<[string, Schema]>([
  ['a closed object', holding({ ...closed, additionalProperties: false, required: ['a'] })],
  ['an open object', holding({ ...closed, additionalProperties: true })],
  ['a free object', holding({ type: 'object' })],
  ['a function without parameters', { type: 'object', properties: {} }],
  [
    'annotations',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...holding({ type: 'string', title: 't', default: 'a', examples: ['a'], format: 'email' }),
    },
  ],
  ['an enum of texts or null', holding({ type: ['string', 'null'], enum: ['a', null] })],
  ['an exclusive bound of an integer', holding({ type: 'integer', exclusiveMinimum: 0 })],
  ['a union', holding({ oneOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] })],
  ['a set that is none', holding({ ...strings, uniqueItems: false })],
  ['names of keywords', holding({ type: 'object', properties: { not: strings, if: strings } })],
])('%s loses nothing', async (_, schema) => {
  for (const upstreamId of [older, newer]) {
    expect(await readDropped(toTool(schema), { upstreamId, strict: true })).toEqual([])
    expect(await readDropped(toFormat(schema), { upstreamId, strict: true })).toEqual([])
  }
})

/** What the JSON Schema form of newer models loses. */
test.each<[string, Schema, readonly string[]]>([
  ['an enum of integers', holding({ type: 'integer', enum: [1, 2] }), []],
  ['a tuple', holding({ type: 'array', prefixItems: [{ type: 'string' }] }), []],
  ['a map', holding({ type: 'object', additionalProperties: strings }), []],
  ['a map at the root', { type: 'object', additionalProperties: strings }, []],
  [
    'a schema that contains itself',
    holding({ $ref: '#/$defs/Tree' }, { $defs: { Tree: tree } }),
    [],
  ],
  ['any value', holding({}), []],
  ['an enum of truths', holding({ type: 'boolean', enum: [true] }), ['properties.p.enum']],
  [
    'a bounded map',
    holding({ type: 'object', additionalProperties: strings, maxProperties: 3 }),
    ['properties.p.maxProperties'],
  ],
  [
    'a keyword beside a reference',
    holding(
      { $ref: '#/$defs/Tree', minProperties: 1, description: 'd' },
      { $defs: { Tree: tree } },
    ),
    ['properties.p.minProperties'],
  ],
  [
    'a negation in a map',
    holding({ type: 'object', additionalProperties: { type: 'string', not: { const: 'a' } } }),
    ['properties.p.additionalProperties.not'],
  ],
])('newer models: %s', async (_, schema, lost) => {
  const paths = (start: string) => lost.map((path) => `${start}.${path}`)
  expect(await readDropped(toTool(schema), { upstreamId: newer })).toEqual(paths(toolPath))
  expect(await readDropped(toFormat(schema), { upstreamId: newer })).toEqual(paths(formatPath))
})

test('doors name the path in the request of their own API', async () => {
  const schema = holding({ type: 'integer', enum: [1, 2] })
  const messages = await readDropped(
    {
      model: 'g',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ name: 'f', input_schema: schema }],
    },
    { upstreamId: older, path: '/v1/messages' },
  )
  expect(messages).toEqual(['tools.0.input_schema.properties.p.enum'])
  const responses = await readDropped(
    {
      model: 'g',
      input: 'Hi',
      store: false,
      text: { format: { type: 'json_schema', name: 'x', schema } },
    },
    { upstreamId: older, path: '/v1/responses' },
  )
  expect(responses).toEqual(['text.format.schema.properties.p.enum'])
})

test('paths of a deep schema with long names stay short', async () => {
  const name = 'n'.repeat(300)
  let schema: Schema = { type: 'integer', enum: [1] }
  for (let depth = 0; depth < 50; depth++) {
    schema = { type: 'object', properties: { [name]: schema } }
  }
  const [path] = await readDropped(toTool(schema), { upstreamId: older })
  expect(path).toBe(`${toolPath}.properties.${name}.enum`)
})
