import type { EmbedResult, NativeEmbedEndpoint } from '../../core/endpoints.ts'
import { openBrace, openBracket } from '../../wire/json/codes.ts'
import { scanLayout } from '../../wire/json/scan.ts'
import { splice } from '../../wire/json/splice.ts'
import { findValueEnd, readItems, readMembers } from '../../wire/json/text.ts'
import { nameModel, readModelName } from './model-name.ts'
import { methodUrl } from './url.ts'

export interface NativeEmbedOptions {
  /** The address of the model; its query is kept. */
  readonly modelUrl: URL
  readonly parseAnswer: (body: unknown) => EmbedResult
}

/** Embeddings on the Gemini API for clients that speak it too: bytes pass but for the name of the model. */
export function nativeGeminiEmbed({
  modelUrl,
  parseAnswer,
}: NativeEmbedOptions): NativeEmbedEndpoint {
  const name = JSON.stringify(readModelName(modelUrl))
  return {
    buildRequest: ({ bytes, method }) => ({
      url: methodUrl(modelUrl, method).href,
      headers: {},
      body: nameModels(bytes, name),
    }),
    parseAnswer,
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Each request of a batch has the name of the model too. */
function nameModels(bytes: Uint8Array, json: string): Uint8Array {
  const layout = scanLayout(bytes, ['model', 'requests'])
  const requests = layout.spans.requests.map((span) => ({
    span,
    json: nameInItems(decoder.decode(bytes.subarray(span.start, span.end)), json),
  }))
  return splice(bytes, [...nameModel(layout, json), ...requests])
}

/** Replaces the member `model` of each object of an array, or of the object that stands in its place. */
function nameInItems(text: string, json: string): string {
  let named = ''
  let from = 0
  const nameInItem = (start: number) => {
    if (text.charCodeAt(start) !== openBrace) return findValueEnd(text, start)
    return readMembers(text, start, (at, key) => {
      const end = findValueEnd(text, at)
      if (key !== 'model') return end
      named += text.slice(from, at) + json
      from = end
      return end
    })
  }
  if (text.charCodeAt(0) === openBracket) readItems(text, 0, nameInItem)
  else nameInItem(0)
  return named + text.slice(from)
}
