import { isObject, parseJson } from '../../wire/json/parse.ts'
import { scanLayout } from '../../wire/json/scan.ts'
import { listDefinedTools } from './defined-tools.ts'

/** The members of a body that offer tools, in every API. */
const toolMembers = ['tools', 'functions', 'mcp_servers'] as const

/** Those that hold what a model reads, in every API. */
const contentMembers = [
  'messages',
  'system',
  'input',
  'contents',
  'content',
  'requests',
  'systemInstruction',
  'system_instruction',
] as const

/**
 * What a body has besides text, in any API. It is read when it is first asked for. Of repeated members the last one
 * counts, as vendors read them.
 */
export class AskedContent {
  readonly #body: Uint8Array
  #media: Media | undefined

  constructor(body: Uint8Array) {
    this.#body = findCounted(body)
  }

  /** True when the request, or a message in it, offers a tool. */
  get hasTools(): boolean {
    const isOffered = this.#read(toolMembers).some(
      (value) => Array.isArray(value) && value.length > 0,
    )
    return isOffered || this.#read(['messages', 'input']).some(definesTools)
  }

  get hasImages(): boolean {
    return this.#findMedia().hasImages
  }

  /** True for documents, audio and video. */
  get hasFiles(): boolean {
    return this.#findMedia().hasFiles
  }

  #findMedia(): Media {
    if (this.#media) return this.#media
    const media: Media = { hasImages: false, hasFiles: false }
    // Parsing takes long, and most requests have only text.
    if (sign.test(latin1.decode(this.#body))) {
      for (const value of this.#read(contentMembers)) addMedia(value, media)
    }
    this.#media = media
    return media
  }

  #read(names: readonly string[]): readonly unknown[] {
    const { spans } = scanLayout(this.#body, names)
    return names.flatMap((name) => {
      const span = spans[name]?.at(-1)
      return span ? [parseJson(utf8.decode(this.#body.subarray(span.start, span.end)))] : []
    })
  }
}

/** A request to count tokens may hold the request that is meant. https://ai.google.dev/api/tokens */
function findCounted(body: Uint8Array): Uint8Array {
  const span = scanLayout(body, ['generateContentRequest']).spans.generateContentRequest.at(-1)
  return span ? body.subarray(span.start, span.end) : body
}

/** Every part that is not text shows one of these. Any escape of ASCII may be a part of one. */
const sign = /image|file|document|audio|video|inline_?data|\\u00/i

/** Every byte is a character, so no sign can be hidden. */
const latin1 = new TextDecoder('latin1')
const utf8 = new TextDecoder()

function definesTools(conversation: unknown): boolean {
  return listDefinedTools(conversation, '').length > 0
}

interface Media {
  hasImages: boolean
  hasFiles: boolean
}

/** The types of parts, in chat completions, embeddings, responses and messages. */
const imageType = /^(?:image|image_url|input_image)$/
const fileType =
  /^(?:file|input_file|document|container_upload|(?:input_)?(?:audio|video)|(?:audio|video|file|document)_url)$/

/** The members in which messages, items and parts have further parts. */
const holders = ['content', 'parts', 'output', 'functionResponse', 'function_response']

/** Bodies are at most as deep as the gateway reads them. */
function addMedia(value: unknown, media: Media): void {
  if (Array.isArray(value)) {
    for (const one of value) addMedia(one, media)
    return
  }
  if (!isObject(value)) return
  const { type, source } = value
  if (typeof type === 'string') {
    media.hasImages ||= imageType.test(type)
    media.hasFiles ||= fileType.test(type)
  }
  if (isObject(value['image_url']) || typeof value['image_url'] === 'string') media.hasImages = true
  for (const name of blobs) addBlob(value[name], media)
  for (const name of holders) addMedia(value[name], media)
  // The source itself has types of its own.
  if (isObject(source)) addMedia(source['content'], media)
}

/** The members of Gemini's parts that hold data of a type. */
const blobs = ['inlineData', 'inline_data', 'fileData', 'file_data']

function addBlob(blob: unknown, media: Media): void {
  if (!isObject(blob)) return
  const type = blob['mimeType'] ?? blob['mime_type']
  if (typeof type === 'string' && /^image\//i.test(type)) media.hasImages = true
  else media.hasFiles = true
}
