import type { ByteSpan } from '../../core/layout.ts'
import { concat } from '../../wire/byte-list.ts'
import { cutPaths } from '../../wire/json/cut.ts'
import { scanLayout } from '../../wire/json/scan.ts'
import { setMember, splice } from '../../wire/json/splice.ts'
import { nameModel, readModelName } from './model-name.ts'
import type { NativeBodies } from './native.ts'

/** The bodies of the Gemini API: the model has the name of the address, and there are no labels. */
export function googleBodies(modelUrl: URL): NativeBodies {
  const name = JSON.stringify(readModelName(modelUrl))
  return {
    writeRequest(call) {
      const named = splice(call.bytes, nameModel(call.layout, name))
      return cutBodyMembers(named, (call.foreign ?? []).filter(isUnknown))
    },
    writeCount: (call) =>
      nameCount(cutBodyMembers(call.bytes, (call.foreign ?? []).filter(isUnknown)), name),
  }
}

/** Vertex AI alone has them. */
function isUnknown(name: string): boolean {
  return name === 'labels'
}

/** Cuts members out of a body, which is decoded only if there are some. */
export function cutBodyMembers(bytes: Uint8Array, names: readonly string[]): Uint8Array {
  return names.length === 0 ? bytes : encoder.encode(cutPaths(decoder.decode(bytes), names))
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The two spellings of the member that has a whole request to generate, in a request to count. */
export const wholeRequest = ['generateContentRequest', 'generate_content_request'] as const

/** What a request to count has besides the contents only as part of a whole request. */
const wholeOnly = [
  'systemInstruction',
  'system_instruction',
  'tools',
  'toolConfig',
  'tool_config',
  'generationConfig',
  'generation_config',
] as const

/**
 * Writes a request to count. Clients count a whole request inside of another one, and clients of Vertex AI without
 * that. https://ai.google.dev/api/tokens
 */
function nameCount(bytes: Uint8Array, json: string): Uint8Array {
  const outer = scanLayout(bytes, ['model', ...wholeRequest, ...wholeOnly])
  const inner = wholeRequest.flatMap((name) => outer.spans[name])
  if (inner.length > 0) {
    const names = inner.flatMap((span) => nameInside(bytes, span, json))
    return splice(bytes, [...nameModel(outer, json), ...names])
  }
  if (wholeOnly.every((name) => outer.spans[name].length === 0)) {
    return splice(bytes, nameModel(outer, json))
  }
  const named = splice(bytes, setMember(outer, 'model', json))
  return concat([encoder.encode('{"generateContentRequest":'), named, encoder.encode('}')])
}

function nameInside(bytes: Uint8Array, { start, end }: ByteSpan, json: string) {
  const layout = scanLayout(bytes.subarray(start, end), ['model'])
  return nameModel(layout, json).map(({ span }) => ({
    span: { start: start + span.start, end: start + span.end },
    json,
  }))
}
