import type { ModelConfig } from '../config/index.ts'
import type { DialectRequest } from '../core/endpoints.ts'
import type { Model } from '../core/provider.ts'
import { cutPaths } from '../wire/json/cut.ts'
import { scanLayout } from '../wire/json/scan.ts'
import { type Splice, setMember, splice } from '../wire/json/splice.ts'

type Endpoints = Pick<Model, 'chat' | 'native' | 'embed' | 'rerank' | 'decisions'>

/** Lets the endpoints of a model change the bodies that they build, as its settings say. */
export function overrideBodies(
  { body }: Pick<ModelConfig, 'body'>,
  endpoints: Endpoints,
): Endpoints {
  if (!body) return endpoints
  const change = createChange(body)
  const wrap = <Call, Endpoint extends { buildRequest(call: Call): DialectRequest }>(
    endpoint: Endpoint,
  ): Endpoint => ({
    ...endpoint,
    buildRequest: (call: Call) => change(endpoint.buildRequest(call)),
  })
  const wrapEach = <Call, Endpoint extends { buildRequest(call: Call): DialectRequest }>(
    each: Readonly<Record<string, Endpoint>>,
  ) => Object.fromEntries(Object.entries(each).map(([api, endpoint]) => [api, wrap(endpoint)]))
  const { chat, native, embed, rerank, decisions } = endpoints
  return {
    chat: chat && wrap(chat),
    native: wrapEach(native),
    embed: embed && { ...wrap(embed), ...(embed.native && { native: wrapEach(embed.native) }) },
    rerank: rerank && wrap(rerank),
    decisions: decisions && wrap(decisions),
  }
}

type BodySettings = NonNullable<ModelConfig['body']>

/** Returns a function that changes the body of a request, and keeps all other bytes of it. */
function createChange(settings: BodySettings): (request: DialectRequest) => DialectRequest {
  const { drop } = settings
  const sets = writeMembers(settings.set)
  const defaults = writeMembers(settings.default)
  const names = [...sets, ...defaults].map(([name]) => name)
  return (request) => {
    const body = drop.length === 0 ? request.body : dropMembers(request.body, drop)
    if (names.length === 0) return { ...request, body }
    const layout = scanLayout(body, names)
    const missing = defaults.filter(([name]) => layout.spans[name]?.length === 0)
    const changes = [...sets, ...missing].map(([name, json]) => setMember(layout, name, json))
    return { ...request, body: splice(body, joinAdded(changes.flat(), layout.isEmpty)) }
  }
}

function writeMembers(members: Readonly<Record<string, unknown>>): readonly [string, string][] {
  return Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)])
}

/** Joins the members that are added at the end, since several cannot be put into one empty object. */
function joinAdded(changes: readonly Splice[], isEmpty: boolean): readonly Splice[] {
  const added = changes.filter(({ span }) => span.start === span.end)
  const [first] = added
  if (!first) return changes
  const json = added.map((one) => String(one.json)).join(isEmpty ? ',' : '')
  return [...changes.filter(({ span }) => span.start !== span.end), { span: first.span, json }]
}

/** A body without any of these members, which is usual, is not decoded. */
function dropMembers(body: Uint8Array, names: readonly string[]): Uint8Array {
  const { spans } = scanLayout(body, names)
  const present = names.filter((name) => (spans[name]?.length ?? 0) > 0)
  if (present.length === 0) return body
  return encoder.encode(cutPaths(decoder.decode(body), present))
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
