import { writeFileSync } from 'node:fs'
import * as z from 'zod'
import { version } from '../../src/core/version.ts'
import { admin } from './admin.ts'
import { answerSchemas } from './answers/index.ts'
import { dataPlane } from './data-plane.ts'
import type { Answer, Body, Operation, Operations, Parameter } from './operation.ts'
import { requestSchemas } from './requests.ts'

/* Writes the OpenAPI document of all routes to openapi.json: `npm run openapi`. */

/** Every path with its methods, in lower case. */
export const operations: Operations = { ...dataPlane, ...admin }

/** Returns the document, in OpenAPI 3.1. */
export function createDocument() {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Model Gateway',
      version,
      description:
        'One OpenAI-compatible interface in front of many model providers. Bodies in the APIs of vendors may have more fields than this document shows. See docs/api.md, docs/vendor-apis.md and docs/admin-api.md.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8080', description: 'The default address.' }],
    paths: mapValues(operations, (methods, path) => ({
      ...describePath(path),
      ...mapValues(methods, (operation, method) => renderOperation(operation, method, path)),
    })),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A virtual key.' },
        'x-api-key': { type: 'apiKey', in: 'header', name: 'x-api-key' },
        'api-key': { type: 'apiKey', in: 'header', name: 'api-key' },
        master: { type: 'http', scheme: 'bearer', description: '`GATEWAY_MASTER_KEY`.' },
      },
      responses: renderErrors(),
      schemas: {
        ...renderSchemas(requestSchemas, 'input'),
        ...renderSchemas(answerSchemas, 'output'),
      },
    },
  }
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value, name: string) => Result,
): Record<string, Result> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, change(value, name)]),
  )
}

function renderSchemas(schemas: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output') {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id })
  const rendered = z.toJSONSchema(registry, {
    io,
    uri: (id) => refTo(id).$ref,
    override: ({ jsonSchema }) => dropPattern(jsonSchema),
  })
  return mapValues(rendered.schemas, ({ $schema: _schema, $id: _id, ...schema }) => schema)
}

/** Many tools, those in Python among them, do not know the classes of Unicode. */
function dropPattern(schema: { pattern?: string }): void {
  if (/\\p\{/i.test(schema.pattern ?? '')) delete schema.pattern
}

function refTo(schema: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${schema}` }
}

function describePath(path: string): { parameters?: readonly object[] } {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  if (names.length === 0) return {}
  return {
    parameters: names.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string', minLength: 1 },
    })),
  }
}

function renderOperation(operation: Operation, method: string, path: string): object {
  const { summary, description, tag, key, body, parameters = [], answers, errors } = operation
  return {
    operationId: `${method}${path}`.replace(/[^A-Za-z0-9]+/g, '_').replace(/_$/, ''),
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: security[key],
    ...(parameters.length > 0 && { parameters: parameters.map(renderParameter) }),
    ...(body && { requestBody: renderBody(body) }),
    responses: {
      ...mapValues(answers, renderAnswer),
      ...Object.fromEntries(errors.map((status) => [status, refToError(status, operation)])),
    },
  }
}

// Each entry of the list is an alternative.
const security = {
  client: [{ bearer: [] }, { 'x-api-key': [] }, { 'api-key': [] }],
  master: [{ master: [] }],
  none: [],
} as const

function renderParameter(parameter: Parameter): object {
  return { in: 'query', ...parameter }
}

function renderBody({ schema, example, optional }: Body): object {
  const content =
    schema === 'text'
      ? { 'text/plain': { schema: { type: 'string' }, example } }
      : { 'application/json': { schema: refTo(schema), example } }
  return { required: !optional, content }
}

function renderAnswer({ description, schema, otherTypes = [] }: Answer): object {
  const content = {
    ...(schema && { 'application/json': { schema: refTo(schema) } }),
    // The events of a stream have the schemas of the vendor's API.
    ...Object.fromEntries(otherTypes.map((type) => [type, {}])),
  }
  return { description, ...(Object.keys(content).length > 0 && { content }) }
}

function refToError(status: number, operation: Operation): object {
  return { $ref: `#/components/responses/${errorSchemaOf(status, operation)}-${status}` }
}

/** The HTTP server refuses some requests before the route is known. */
function errorSchemaOf(status: number, { errorSchema = 'Error' }: Operation): string {
  return refusedBeforeRouting.has(status) ? 'Error' : errorSchema
}

const refusedBeforeRouting = new Set([408, 415, 417, 431])

function renderErrors(): Record<string, object> {
  const all = Object.values(operations).flatMap((methods) => Object.values(methods))
  return Object.fromEntries(
    all.flatMap((operation) =>
      operation.errors.map((status) => {
        const schema = errorSchemaOf(status, operation)
        const content = { 'application/json': { schema: refTo(schema) } }
        return [`${schema}-${status}`, { description: statusMeanings[status], content }]
      }),
    ),
  )
}

const statusMeanings: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  401: 'The key is missing or not valid.',
  402: 'A budget has too little left.',
  403: 'The key may not use the model.',
  404: 'The model is not configured.',
  408: 'The request took too long to arrive.',
  412: 'The file has another hash.',
  413: 'The body is over the limit.',
  415: 'The coding of the body is not supported.',
  417: 'The expectation is not supported.',
  429: 'A limit is reached; `Retry-After` says how long to wait.',
  431: 'The headers are too large.',
  500: 'An internal error.',
  502: 'The provider failed.',
  503: 'Every link failed, or the database cannot be used.',
  504: 'The provider took too long.',
}

if (process.argv[1] === import.meta.filename) {
  const text = `${JSON.stringify(createDocument(), null, 2)}\n`
  writeFileSync(new URL('../../openapi.json', import.meta.url), text)
}
