import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeEach, describe, expect, test } from 'vitest'
import { createDocument, operations } from '../../scripts/openapi/document.ts'
import type { Operation } from '../../scripts/openapi/operation.ts'
import { createAdminRoutes } from '../../src/access/admin-routes.ts'
import { textAsFile } from '../../src/core/config-file.ts'
import { listRoutes } from '../../src/http/router.ts'
import { type KeyedGateway, keyedGateway, masterKey } from '../support/keyed-gateway.ts'

/*
 * openapi.json, and whether the gateway serves what it says.
 */

const text = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')
const ajv = new Ajv2020({ strict: false }).addSchema(JSON.parse(text), 'openapi.json')

const config = `
[[providers]]
name = "demo"
kind = "demo"
[[providers.models]]
id = "demo"
cost_per_1m_input = 1
cost_per_1m_output = 1
[[providers.models]]
id = "demo-retrieval"
capabilities = ["embed", "rerank"]
[[providers.models]]
id = "demo-decisions"
capabilities = ["decisions"]
[[providers.models]]
id = "demo-system-one"
capabilities = ["decisions"]
decisions = "typesafe"
`

interface Case {
  readonly title: string
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

const cases: readonly Case[] = Object.entries(operations).flatMap(([path, methods]) =>
  Object.entries(methods).map(([name, operation]) => {
    const method = name.toUpperCase()
    return { title: `${method} ${path}`, method, path, operation }
  }),
)

let gateway: KeyedGateway
let ids: Readonly<Record<string, string>>

beforeEach(async () => {
  gateway = await keyedGateway(config, {
    configFile: {
      ...textAsFile(config),
      stage: async () => ({ commit: async () => {}, discard: async () => {} }),
    },
  })
  const key = await gateway.key()
  const group = await gateway.group({ budget_max: 1 })
  await gateway.admin('PATCH', `/admin/keys/${key.id}`, { budget_max: 1 })
  const { headers } = await gateway.admin('GET', '/admin/config')
  ids = { key: key.id, group, secret: key.secret, hash: headers.get('etag') ?? '' }
})

/** Fills the parameters of a path with names that exist. */
function fill({ path, operation }: Case): string {
  const model = /Embed/.test(operation.body?.schema ?? '') ? 'demo-retrieval' : 'demo'
  return path
    .replace('keys/{id}', `keys/${ids['key']}`)
    .replace('groups/{id}', `groups/${ids['group']}`)
    .replace('models/{id}', `models/${model}`)
    .replace('{name}', 'demo')
    .replace('{model}', model)
}

function send(each: Case, body: unknown, query = '') {
  const secret = each.operation.key === 'master' ? masterKey : ids['secret']
  return gateway.get(fill(each) + query, {
    method: each.method,
    headers: { authorization: `Bearer ${secret}`, 'if-match': ids['hash'] ?? '' },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

function expectToMatch(name: string, value: unknown): void {
  const validate = ajv.getSchema(`openapi.json#/components/schemas/${name}`)
  expect(validate, `${name} is a schema`).toBeDefined()
  validate?.(value)
  expect(validate?.errors ?? []).toEqual([])
}

test('the file is that which `npm run openapi` writes', () => {
  expect(text).toBe(`${JSON.stringify(createDocument(), null, 2)}\n`)
})

test('the document has exactly the routes that the gateway serves', async () => {
  const front: { routes: string[] } = await (await gateway.get('/')).json()
  // The routes are only listed. Of their parts only the workers are called, to set an answer.
  const parts = new Proxy({}, { get: () => ({ answer() {} }) }) as never
  const served = ['GET /', ...front.routes, ...listRoutes(createAdminRoutes(parts, parts))]
  expect(cases.map(({ title }) => title).toSorted()).toEqual(served.toSorted())
})

describe.each(cases)('$title', (each) => {
  const { operation } = each
  const { body, answers, key } = operation

  test('the example is answered as the document says', async () => {
    if (body && body.schema !== 'text') expectToMatch(body.schema, body.example)
    const example = body?.schema === 'text' ? config : body?.example
    const response = await send(each, example)
    const answer = answers[response.status]
    expect(answer, await response.clone().text()).toBeDefined()
    const [type] = response.headers.get('content-type')?.split(';') ?? []
    if (answer?.schema) expectToMatch(answer.schema, await response.json())
    else expect([undefined, ...(answer?.otherTypes ?? [])]).toContain(type)
  })

  test.skipIf(key === 'none')('a request without its key is 401', async () => {
    const response = await gateway.get(fill(each), { method: each.method })
    expect(response.status).toBe(401)
    expectToMatch(operation.errorSchema ?? 'Error', await response.json())
  })

  test.skipIf(!body || body.optional || body.schema === 'text')(
    'a body without a required field is refused',
    async () => {
      const { required = [] } = createDocument().components.schemas[String(body?.schema)] as {
        required?: readonly string[]
      }
      for (const field of required) {
        if (field === 'model' && each.path.includes('{model}')) continue
        const response = await send(each, { ...Object(body?.example), [field]: undefined })
        expect(response.status, field).toBe(400)
        expectToMatch(operation.errorSchema ?? 'Error', await response.json())
      }
    },
  )

  test.skipIf(key !== 'master' || each.method !== 'GET')(
    'the document has every query parameter',
    async () => {
      const names = (operation.parameters ?? []).map(({ name }) => name)
      const response = await send(each, undefined, '?nonsense=1')
      if (names.length === 0) return expect(response.status).toBe(200)
      const { error }: { error: { message: string } } = JSON.parse(await response.text())
      expect(error.message).toBe(`unknown parameter; this route takes ${names.join(', ')}`)
    },
  )
})
