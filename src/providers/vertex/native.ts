import type { NativeEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget } from '../../core/provider-kind.ts'
import { openBrace, openBracket } from '../../wire/json/codes.ts'
import { cutMembers as cutEverywhere, cutPaths } from '../../wire/json/cut.ts'
import { scanLayout } from '../../wire/json/scan.ts'
import { splice } from '../../wire/json/splice.ts'
import { findValueEnd, readItems, readMembers } from '../../wire/json/text.ts'
import { type GeminiModel, geminiModel } from '../google/models.ts'
import { bindGemini, type NativeBodies } from '../google/native.ts'
import { cutBodyMembers, wholeRequest } from '../google/native-bodies.ts'
import { noCredential } from './auth/secret.ts'
import { vertexModelUrl } from './url.ts'

/** The Gemini API at Vertex AI, for clients that speak it too. */
export function bindVertex(target: DialectTarget): NativeEndpoint {
  const address = vertexModelUrl(target)
  const isKnown = address instanceof URL
  const model = geminiModel(target.upstreamId)
  // Without a project or location, only the requests to this provider fail, not the configuration.
  const modelUrl = isKnown ? address : new URL('https://aiplatform.googleapis.com')
  const endpoint = bindGemini({ model, modelUrl, bodies: vertexBodies(model) })
  if (isKnown) return endpoint
  const { counting } = endpoint
  const buildRequest = () => {
    throw noCredential(address.problem)
  }
  return { ...endpoint, buildRequest, ...(counting && { counting: { ...counting, buildRequest } }) }
}

/**
 * What Vertex AI demands of bodies: each content has a role, the model is in the address alone, and calls have no
 * ids before Gemini 3. https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
 */
function vertexBodies(model: GeminiModel): NativeBodies {
  return {
    writeRequest({ bytes, layout, foreign = [] }) {
      const unknown = foreign.filter((name) => name !== 'labels')
      const named = layout.spans.model.length > 0 ? ['model', ...unknown] : unknown
      return fitContents(cutBodyMembers(bytes, named), model)
    },
    writeCount: ({ bytes }) => fitContents(unwrapCount(bytes), model),
  }
}

/** The members of a request to count: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/projects.locations.publishers.models/countTokens */
const counted: ReadonlySet<string> = new Set([
  'contents',
  'systemInstruction',
  'system_instruction',
  'tools',
  'generationConfig',
  'generation_config',
])

/** Writes a request to count without what is in none here. It may stand inside of another one. */
function unwrapCount(bytes: Uint8Array): Uint8Array {
  const { spans } = scanLayout(bytes, wholeRequest)
  const [inner] = wholeRequest.flatMap((name) => spans[name])
  const text = decoder.decode(inner ? bytes.subarray(inner.start, inner.end) : bytes)
  const others: string[] = []
  readMembers(text, text.indexOf('{'), (at, key) => {
    if (!counted.has(key)) others.push(key)
    return findValueEnd(text, at)
  })
  return encoder.encode(others.length === 0 ? text : cutPaths(text, others))
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Writes the contents as the service takes them. All other bytes stay. */
function fitContents(bytes: Uint8Array, { takesCallIds }: GeminiModel): Uint8Array {
  const { spans } = scanLayout(bytes, ['contents'])
  const changes = spans.contents.flatMap((span) => {
    const given = decoder.decode(bytes.subarray(span.start, span.end))
    const json = giveRoles(takesCallIds ? given : cutCallIds(given))
    return json === given ? [] : [{ span, json }]
  })
  return splice(bytes, changes)
}

function cutCallIds(contents: string): string {
  if (!/"function_?(?:call|response)"/i.test(contents)) return contents
  const names = ['functionCall', 'function_call', 'functionResponse', 'function_response']
  return names.reduce((json, name) => cutEverywhere(json, `*.parts.*.${name}.id`), contents)
}

const roles: ReadonlySet<string> = new Set(['"user"', '"model"'])

/** Gives the role of the user to contents that have no role, or one of old clients. */
function giveRoles(contents: string): string {
  let given = ''
  let from = 0
  const replace = (start: number, end: number, text: string) => {
    given += contents.slice(from, start) + text
    from = end
  }
  const giveRole = (start: number) => {
    if (contents.charCodeAt(start) !== openBrace) return findValueEnd(contents, start)
    let hasRole = false
    let isEmpty = true
    const end = readMembers(contents, start, (at, key) => {
      const stop = findValueEnd(contents, at)
      isEmpty = false
      if (key !== 'role') return stop
      hasRole = true
      if (!roles.has(contents.slice(at, stop))) replace(at, stop, '"user"')
      return stop
    })
    // Without a role, nothing in this content has been replaced.
    if (!hasRole) replace(start + 1, start + 1, isEmpty ? '"role":"user"' : '"role":"user",')
    return end
  }
  if (contents.charCodeAt(0) === openBracket) readItems(contents, 0, giveRole)
  else giveRole(0)
  return given + contents.slice(from)
}
