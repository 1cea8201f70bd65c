import { describe, expect, test } from 'vitest'
import { type TestGateway, testGateway } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'

/*
 * The vendor holds strict tools to the same grammar as answers, at its own address and on Bedrock.
 */

const limited = {
  type: 'object',
  properties: {
    n: { type: 'integer', minimum: 1, maximum: 9 },
    list: { type: 'array', items: { $ref: '#/definitions/item' }, maxItems: 3 },
    name: { type: 'string', pattern: '^[a-z]+$' },
  },
  required: ['n', 'list', 'name'],
  additionalProperties: false,
  definitions: { item: { type: 'string', minLength: 1 } },
}

const fitted = {
  type: 'object',
  properties: {
    n: { type: 'integer', description: 'minimum: 1, maximum: 9' },
    list: { type: 'array', items: { $ref: '#/definitions/item' }, description: 'maxItems: 3' },
    name: { type: 'string', pattern: '^[a-z]+$' },
  },
  required: ['n', 'list', 'name'],
  additionalProperties: false,
  definitions: { item: { type: 'string', description: 'minLength: 1' } },
}

interface Tool {
  readonly name: string
  readonly schema: object
  readonly isStrict?: boolean
}

const doors = [
  ['anthropic', '/v1/chat/completions'],
  ['anthropic', '/v1/responses'],
  ['bedrock', '/v1/chat/completions'],
  ['bedrock', '/v1/responses'],
  ['bedrock', '/v1/messages'],
] as const

describe.each(doors)('strict tools for Claude, kind %s, through %s', (kind, path) => {
  const ask = (tools: readonly Tool[]) => send({ kind, path, tools })

  test('have no keyword that the vendor refuses; others keep theirs', async () => {
    const open = { ...limited, additionalProperties: true }
    const { tools, dropped } = await ask([
      { name: 'a', schema: limited },
      { name: 'b', schema: open, isStrict: false },
    ])
    expect(tools).toEqual([
      { name: 'a', schema: fitted, isStrict: true },
      { name: 'b', schema: open, isStrict: false },
    ])
    expect(dropped).toEqual([])
  })

  test('are closed, or not strict', async () => {
    const { additionalProperties: _, ...open } = limited
    const { tools } = await ask([{ name: 'a', schema: open }])
    const isStrict = kind === 'anthropic'
    expect(tools).toEqual([{ name: 'a', schema: isStrict ? fitted : open, isStrict }])
  })

  test('are not strict if a map would lose its content', async () => {
    const map = { type: 'object', additionalProperties: { type: 'string' } }
    const schema = { ...limited, properties: { map }, required: ['map'] }
    const { tools, dropped } = await ask([{ name: 'a', schema }])
    expect(tools).toEqual([{ name: 'a', schema, isStrict: false }])
    expect(dropped).toHaveLength(1)
  })

  test('are at most 20; the others keep their schemas', async () => {
    const names = Array.from({ length: 22 }, (_, index) => `t${index}`)
    const { tools, dropped } = await ask(names.map((name) => ({ name, schema: limited })))
    expect(tools.map(({ isStrict }) => isStrict)).toEqual(names.map((_, index) => index < 20))
    expect(tools[21]?.schema).toEqual(limited)
    expect(dropped).toEqual([20, 21].map((index) => expect.stringMatching(`^tools\\.${index}\\b`)))
  })

  test('have at most 24 optional parameters and 16 unions together', async () => {
    const many = (count: number, schema: object, isRequired: boolean) => {
      const names = Array.from({ length: count }, (_, index) => `p${index}`)
      const properties = Object.fromEntries(names.map((name) => [name, schema]))
      const required = isRequired ? names : []
      return { type: 'object', properties, required, additionalProperties: false }
    }
    const union = { anyOf: [{ type: 'string' }, { type: 'null' }] }
    const { tools } = await ask([
      { name: 'a', schema: many(20, { type: 'string' }, false) },
      { name: 'b', schema: many(5, { type: 'string' }, false) },
      { name: 'c', schema: many(4, { type: 'string' }, false) },
      { name: 'd', schema: many(17, union, true) },
      { name: 'e', schema: many(16, { type: ['string', 'null'] }, true) },
    ])
    const strict = tools.filter(({ isStrict }) => isStrict)
    expect(strict.map(({ name }) => name)).toEqual(['a', 'c', 'e'])
  })
})

test('a schema for the answer keeps its definitions, through the Messages API to Bedrock', async () => {
  const gateway = await createGateway('bedrock')
  gateway.upstream.requests.length = 0
  await gateway.get('/v1/messages', {
    method: 'POST',
    body: JSON.stringify({
      model: 'm',
      max_tokens: 64,
      messages: [{ role: 'user', content: 'Hi' }],
      output_config: { format: { type: 'json_schema', schema: limited } },
    }),
  })
  const { outputConfig } = gateway.upstream.body() as {
    outputConfig: { textFormat: { structure: { jsonSchema: { schema: string } } } }
  }
  expect(JSON.parse(outputConfig.textFormat.structure.jsonSchema.schema)).toEqual(fitted)
})

interface Sent {
  readonly tools: readonly Tool[]
  readonly dropped: unknown
}

/** Sends a request, which the upstream answers with 404, and reads the tools that it got. */
async function send({
  kind,
  path,
  tools,
}: {
  readonly kind: string
  readonly path: string
  readonly tools: readonly Tool[]
}): Promise<Sent> {
  const { get, upstream, log } = await createGateway(kind)
  upstream.requests.length = 0
  log.length = 0
  const given = tools.map((tool) => writeTool(tool, path))
  const messages = [{ role: 'user', content: 'Hi' }]
  const body = { model: 'm', max_tokens: 64, messages, input: 'Hi', tools: given }
  const response = await get(path, { method: 'POST', body: JSON.stringify(body) })
  expect(upstream.requests, await response.text()).toHaveLength(1)
  const line = log.findLast(({ message }) => message === 'fields dropped')
  return { tools: readTools(upstream.body()), dropped: line?.fields['fields'] ?? [] }
}

function writeTool({ name, schema, isStrict: strict = true }: Tool, path: string): object {
  switch (path) {
    case '/v1/messages':
      return { name, input_schema: schema, strict }
    case '/v1/responses':
      return { type: 'function', name, parameters: schema, strict }
    default:
      return { type: 'function', function: { name, parameters: schema, strict } }
  }
}

interface AnthropicTool {
  readonly name: string
  readonly input_schema: object
  readonly strict?: boolean
}

interface ToolSpec {
  readonly name: string
  readonly inputSchema: { readonly json: object }
  readonly strict?: boolean
}

interface SentBody {
  readonly tools?: readonly AnthropicTool[]
  readonly toolConfig?: { readonly tools: readonly { readonly toolSpec: ToolSpec }[] }
}

function readTools(body: unknown): readonly Tool[] {
  // The upstream of either kind gets one of these forms.
  const { tools = [], toolConfig } = body as SentBody
  const own = tools.map(({ name, input_schema: schema, strict = false }) => {
    return { name, schema, isStrict: strict }
  })
  const specs = (toolConfig?.tools ?? []).map(({ toolSpec }) => {
    const { name, inputSchema, strict = false } = toolSpec
    return { name, schema: inputSchema.json, isStrict: strict }
  })
  return [...own, ...specs]
}

const gateways = new Map<string, Promise<TestGateway>>()

function createGateway(kind: string): Promise<TestGateway> {
  const known = gateways.get(kind)
  if (known) return known
  const made = testGateway(`
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
models = [{ id = "m", upstream_id = "claude-sonnet-4-5" }]
`).then((gateway) => {
    gateway.upstream.always(json({ message: 'nothing here' }, { status: 404 }))
    return gateway
  })
  gateways.set(kind, made)
  return made
}
