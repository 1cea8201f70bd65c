import type { MemberLayout } from '../../core/layout.ts'
import { cutMembers } from '../../wire/json/cut.ts'
import { isObject, tryParseJson } from '../../wire/json/parse.ts'
import { scanLayout } from '../../wire/json/scan.ts'
import { replaceEach, setMember, splice } from '../../wire/json/splice.ts'

/** A request whose bytes the upstream gets. */
export interface VerbatimRequest {
  readonly bytes: Uint8Array
  readonly layout: MemberLayout<'model' | 'stream_options'>
}

/** The members that the gateway changes. */
export interface BodyChanges {
  /** The vendor's name for the model, as JSON. */
  readonly model: Uint8Array
  /** Asks for usage in the stream. */
  readonly asksUsage: boolean
}

/** Returns the client's bytes with these members changed. */
export function buildVerbatimBody(
  request: VerbatimRequest,
  { model, asksUsage }: BodyChanges,
): Uint8Array {
  const changes = replaceEach(request.layout.spans.model, model)
  if (asksUsage) {
    const json = JSON.stringify({ ...readStreamOptions(request), include_usage: true })
    for (const change of setMember(request.layout, 'stream_options', json)) changes.push(change)
  }
  return splice(request.bytes, changes)
}

/** Cuts the blocks of other vendors out of the messages, and keeps all other bytes. */
export function cutProviderContent({ bytes }: VerbatimRequest): VerbatimRequest {
  const rest = encoder.encode(cutMembers(decoder.decode(bytes), 'messages.*.provider_content'))
  return { bytes: rest, layout: scanLayout(rest, ['model', 'stream_options']) }
}

/** Parses `stream_options` from the bytes, because the gateway does not keep the parsed request. */
export function readStreamOptions({
  bytes,
  layout,
}: VerbatimRequest): Readonly<Record<string, unknown>> {
  const last = layout.spans.stream_options.at(-1)
  const options = last && tryParseJson(bytes.subarray(last.start, last.end))
  return isObject(options) ? options : {}
}

/** Encodes the vendor's name for the model. */
export function encodeModel(upstreamId: string): Uint8Array {
  return encoder.encode(JSON.stringify(upstreamId))
}

const encoder = new TextEncoder()
/** A byte order mark is one of the bytes to keep. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
