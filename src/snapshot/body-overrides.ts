import type { ModelConfig } from '../config/index.ts'
import type { NativeEndpoint } from '../core/endpoints.ts'
import type { ChangeBody } from '../core/provider-kind.ts'
import { cutNames } from '../wire/json/cut.ts'
import { scanLayout } from '../wire/json/scan.ts'
import { type Splice, setMember, splice } from '../wire/json/splice.ts'
import { changeBodies, type Endpoints } from './change-bodies.ts'

/** Lets the endpoints of a model change the bodies that they build, as its settings say. */
export function overrideBodies(
  { body }: Pick<ModelConfig, 'body'>,
  endpoints: Endpoints,
): Endpoints {
  if (!body) return endpoints
  const changed = changeBodies(endpoints, createChange(body))
  const native = Object.entries(changed.native).map(([api, endpoint]) => [
    api,
    overrideCounts(endpoint, body),
  ])
  return { ...changed, native: Object.fromEntries(native) }
}

type BodySettings = NonNullable<ModelConfig['body']>

/** Changes requests to count in the same way, as far as the upstream takes the members there. */
function overrideCounts(endpoint: NativeEndpoint, settings: BodySettings): NativeEndpoint {
  const { counting } = endpoint
  if (!counting?.members) return endpoint
  const { members } = counting
  const keep = (given: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(given).filter(([name]) => members.has(name)))
  const change = createChange({
    set: keep(settings.set),
    default: keep(settings.default),
    drop: settings.drop,
  })
  return {
    ...endpoint,
    counting: {
      ...counting,
      buildRequest(call) {
        const request = counting.buildRequest(call)
        return { ...request, body: change(request.body) }
      },
    },
  }
}

/** Returns a function that changes the body of a request, and keeps all other bytes of it. */
function createChange(settings: BodySettings): ChangeBody {
  const { drop } = settings
  const sets = writeMembers(settings.set)
  const defaults = writeMembers(settings.default)
  const names = [...sets, ...defaults].map(([name]) => name)
  return (given) => {
    const body = drop.length === 0 ? given : dropMembers(given, drop)
    if (names.length === 0) return body
    const layout = scanLayout(body, names)
    const missing = defaults.filter(([name]) => layout.spans[name]?.length === 0)
    const changes = [...sets, ...missing].map(([name, json]) => setMember(layout, name, json))
    return splice(body, joinAdded(changes.flat(), layout.isEmpty))
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
  return encoder.encode(cutNames(decoder.decode(body), new Set(present)))
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
