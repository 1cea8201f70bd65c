import type { NativeCall } from '../core/endpoints.ts'
import { cutPaths } from '../wire/json/cut.ts'
import { scanLayout } from '../wire/json/scan.ts'

/** Cuts the values at these paths out of a request, and keeps all other bytes. */
export function cutFromCall(call: NativeCall, paths: readonly string[]): NativeCall {
  const bytes = encoder.encode(cutPaths(decoder.decode(call.bytes), paths))
  return { ...call, bytes, layout: scanLayout(bytes, ['model', 'stream_options']) }
}

const encoder = new TextEncoder()
/** A byte order mark is one of the bytes to keep. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
