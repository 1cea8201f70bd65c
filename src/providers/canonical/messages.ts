import * as z from 'zod'
import { list, loose, validateAsSent } from '../../core/as-sent.ts'
import { type CallArguments, type ChatRequest, callArguments } from '../../core/chat.ts'
import { untranslatableField } from '../../core/invalid-field.ts'
import { mapInSteps, type Steps } from '../../core/steps.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { PastCall } from './past-call.ts'

/** A place in the request and the object that the client put there. */
interface Placed {
  /** The dotted path, for error messages. */
  readonly path: string
  readonly raw: JsonObject
}

export type TextPart = Placed & { readonly type: 'text'; readonly text: string }

export type ImageUrlPart = Placed & {
  readonly type: 'image'
  /** A data URI, an address, or a reference to a file that the vendor stores. */
  readonly url: string
  readonly detail: string | undefined
}

export type FilePart = Placed & {
  readonly type: 'file'
  /** The member of the part that holds the file. */
  readonly member: 'file' | 'video_url'
  /** A data URI, or the address of a file that the vendor fetches or stores. */
  readonly data: string | undefined
  /** The id of a file that the vendor stores. */
  readonly id: string | undefined
  readonly name: string | undefined
}

export type AudioPart = Placed & {
  readonly type: 'audio'
  /** Bare base64. */
  readonly data: string
  readonly format: string
}

/** A text that the guardrail of the request checks. */
export type GuardedPart = Placed & {
  readonly type: 'guarded'
  readonly text: string
  /** What the text is for the guardrail; undefined for a text that is only checked. */
  readonly qualifiers: readonly string[] | undefined
}

/** One part of a message's content. Refusals are text; `other` is a type unknown to the gateway. */
export type CanonicalPart =
  | TextPart
  | ImageUrlPart
  | FilePart
  | AudioPart
  | GuardedPart
  | (Placed & { readonly type: 'other' })

/** The content of a message: one string or parts; undefined when null or absent. */
export type CanonicalContent = string | readonly CanonicalPart[] | undefined

/** One message. `system` includes `developer`, `tool` includes the legacy `function`. */
export type CanonicalMessage =
  | (Placed & { readonly role: 'system'; readonly content: CanonicalContent })
  | (Placed & { readonly role: 'user'; readonly content: CanonicalContent })
  | (Placed & {
      readonly role: 'assistant'
      readonly content: CanonicalContent
      readonly reasoning: string | undefined
      readonly calls: readonly PastCall[]
      /** Reads what a copy of a vendor's own blocks would change. */
      readonly readRawText: RawTextReader
    })
  | (Placed & {
      readonly role: 'tool'
      readonly content: CanonicalContent
      readonly callId: string
      readonly name: string | undefined
      /** The call failed. */
      readonly isError: boolean
    })

/** An earlier answer of a model. */
export type PastAnswer = CanonicalMessage & { readonly role: 'assistant' }

type RawMessage = ChatRequest['messages'][number]

/** Returns the JSON text at a dotted path of the request body. */
export type RawTextReader = (path: string) => string

/** Reads the messages of a request. Throws `UntranslatableError` with the field at fault. */
export function readMessages(
  messages: readonly RawMessage[],
  readRawText: RawTextReader,
): Steps<CanonicalMessage[]> {
  // The legacy form has no ids: a `function` message answers the last call before it.
  let legacyId: string | undefined
  return mapInSteps(messages, (raw, index) => {
    if (raw.role === 'assistant' && isObject(raw['function_call']))
      legacyId = createCallId(index, 0)
    return readMessage(raw, { index, legacyId, readRawText })
  })
}

/** Returns a deterministic id for a call that has none. */
function createCallId(message: number, call: number): string {
  return `call_${message}_${call}`
}

interface MessagePlace {
  readonly index: number
  readonly legacyId: string | undefined
  readonly readRawText: RawTextReader
}

function readMessage(
  raw: RawMessage,
  { index, legacyId, readRawText }: MessagePlace,
): CanonicalMessage {
  const path = `messages.${index}`
  const content = readContent(raw.content, path)
  switch (raw.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content, path, raw }
    case 'user':
      return { role: 'user', content, path, raw }
    case 'assistant': {
      const { refusal, reasoning_content, function_call, audio } = parseFields(assistant, raw, path)
      const calls = (raw.tool_calls ?? []).map((call, n) =>
        readCall(call, {
          path: `${path}.tool_calls.${n}`,
          fallbackId: createCallId(index, n),
          readRawText,
        }),
      )
      const legacy = function_call && readLegacyCall(function_call, index, readRawText)
      return {
        role: 'assistant',
        // The gateway returns a refusal without content and with `refusal`; accept it in that form.
        content: appendAudio(content || refusal || content, audio, path),
        reasoning: reasoning_content ?? undefined,
        calls: legacy && calls.length === 0 ? [legacy] : calls,
        readRawText,
        path,
        raw,
      }
    }
    case 'tool':
    case 'function': {
      const { tool_call_id, name, is_error } = parseFields(toolResult, raw, path)
      const callId = tool_call_id ?? (raw.role === 'function' ? legacyId : undefined)
      if (callId === undefined) {
        throw new UntranslatableError(`${path}.tool_call_id is required`, `${path}.tool_call_id`)
      }
      const isError = is_error ?? false
      return { role: 'tool', content, callId, name: name ?? undefined, isError, path, raw }
    }
    default:
      throw new UntranslatableError(`${path}.role: unknown role`, `${path}.role`)
  }
}

/**
 * Appends the audio of an earlier answer to its content. Audio that another vendor stores has only an
 * id and becomes a part of type `other`.
 */
function appendAudio(
  content: CanonicalContent,
  audio: z.infer<typeof pastAudio> | null | undefined,
  message: string,
): CanonicalContent {
  if (!audio) return content
  const { data, mime_type: mimeType = googleAudioType } = audio
  const placed = { path: `${message}.audio`, raw: { ...audio, type: 'audio' } }
  const part: CanonicalPart =
    data && mimeType?.startsWith('audio/')
      ? { type: 'audio', data, format: mimeType.slice('audio/'.length), ...placed }
      : { type: 'other', ...placed }
  const texts = typeof content === 'string' ? [createTextPart(content, message)] : (content ?? [])
  return [...texts, part]
}

/**
 * The audio format of Google's models, the only ones whose answers carry audio data. The stream helper of
 * the official SDK keeps the data but not the media type.
 */
const googleAudioType = 'audio/L16;codec=pcm;rate=24000'

function createTextPart(text: string, message: string): TextPart {
  return { type: 'text', text, path: `${message}.content`, raw: {} }
}

const optionalText = z.string().nullish()
const calledFunction = loose({ name: z.string(), arguments: callArguments.nullish() })
const pastAudio = loose({ data: optionalText, mime_type: optionalText })

const assistant = loose({
  refusal: optionalText,
  reasoning_content: optionalText,
  function_call: calledFunction.nullish(),
  audio: pastAudio.nullish(),
})

const toolResult = loose({
  tool_call_id: optionalText,
  name: optionalText,
  is_error: z.boolean().nullish(),
})

const pastCall = loose({ id: optionalText, function: calledFunction })

const customCall = loose({
  id: optionalText,
  custom: loose({ name: z.string(), input: optionalText }),
})

interface CallPlace {
  readonly path: string
  readonly fallbackId: string
  readonly readRawText: RawTextReader
}

function readCall(raw: JsonObject, { path, fallbackId, readRawText }: CallPlace): PastCall {
  if (raw['type'] === 'custom') {
    const { id, custom } = parseFields(customCall, raw, path)
    // Arguments must be an object, so free text becomes its member `input`.
    const text = JSON.stringify({ input: custom.input ?? '' })
    return new PastCall({ id: id || fallbackId, name: custom.name, arguments: text, path, raw })
  }
  const { id, function: called } = parseFields(pastCall, raw, path)
  const text = readArguments(called.arguments, `${path}.function.arguments`, readRawText)
  return new PastCall({ id: id || fallbackId, name: called.name, arguments: text, path, raw })
}

function readLegacyCall(
  raw: z.infer<typeof calledFunction>,
  message: number,
  readRawText: RawTextReader,
): PastCall {
  const path = `messages.${message}.function_call`
  const text = readArguments(raw.arguments, `${path}.arguments`, readRawText)
  return new PastCall({ id: createCallId(message, 0), name: raw.name, arguments: text, path, raw })
}

/** Returns the arguments as text; for an object, the text that the client sent. */
function readArguments(
  given: CallArguments | null | undefined,
  path: string,
  readRawText: RawTextReader,
): string {
  return typeof given === 'object' && given !== null ? readRawText(path) : (given ?? '')
}

function readContent(content: RawMessage['content'], path: string): CanonicalContent {
  if (content === null || content === undefined) return undefined
  if (typeof content === 'string') return content
  return content.map((part, index) => readPart(part, `${path}.content.${index}`))
}

const refusalPart = loose({ refusal: optionalText })

const audioPart = loose({
  input_audio: loose({ data: z.string(), format: z.string() }),
})

const filePart = loose({
  file: loose({ file_data: optionalText, file_id: optionalText, filename: optionalText }),
})

const videoPart = loose({ video_url: loose({ url: z.string() }) })

const guardedPart = loose({ text: z.string(), qualifiers: list(z.string()).nullish() })

type RawPart = Exclude<RawMessage['content'], string | null | undefined>[number]

function readPart(raw: RawPart, path: string): CanonicalPart {
  const { image_url: image } = raw
  // Without a type, only a text part can be recognized.
  switch (raw.type ?? (typeof raw.text === 'string' ? 'text' : undefined)) {
    case 'text':
      return { type: 'text', text: raw.text ?? '', path, raw }
    case 'refusal':
      return { type: 'text', text: parseFields(refusalPart, raw, path).refusal ?? '', path, raw }
    case 'image_url':
      if (image === null || image === undefined) {
        throw new UntranslatableError(`${path}.image_url is required`, `${path}.image_url`)
      }
      return typeof image === 'string'
        ? { type: 'image', url: image, detail: undefined, path, raw }
        : { type: 'image', url: image.url, detail: image.detail ?? undefined, path, raw }
    case 'input_audio': {
      const { data, format } = parseFields(audioPart, raw, path).input_audio
      return { type: 'audio', data, format, path, raw }
    }
    case 'file': {
      const { file_data, file_id, filename } = parseFields(filePart, raw, path).file
      return {
        type: 'file',
        member: 'file',
        data: file_data ?? undefined,
        id: file_id ?? undefined,
        name: filename ?? undefined,
        path,
        raw,
      }
    }
    case 'video_url': {
      const { url } = parseFields(videoPart, raw, path).video_url
      return {
        type: 'file',
        member: 'video_url',
        data: url,
        id: undefined,
        name: undefined,
        path,
        raw,
      }
    }
    case 'guarded_text': {
      const { text, qualifiers } = parseFields(guardedPart, raw, path)
      return { type: 'guarded', text, qualifiers: qualifiers ?? undefined, path, raw }
    }
    default:
      return { type: 'other', path, raw }
  }
}

/** Returns the error for a part that a dialect cannot express: content is never left out. */
export function unsupportedPart(
  { path, raw }: CanonicalPart,
  kind: string,
  { role }: CanonicalMessage,
): UntranslatableError {
  const type = String(raw['type']).slice(0, 100)
  const rule = `the ${kind} API does not support ${type} parts in ${role} messages`
  return new UntranslatableError(`${path}: ${rule}`, path)
}

/** Lists the content as parts; a string is one text part. */
export function listParts({ content, path, raw }: CanonicalMessage): readonly CanonicalPart[] {
  if (content === undefined) return []
  return typeof content === 'string'
    ? [{ type: 'text', text: content, path: `${path}.content`, raw }]
    : content
}

/** Joins all text of the content without a separator. */
export function joinText(message: CanonicalMessage): string {
  return listParts(message)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')
}

function parseFields<Value>(schema: z.ZodType<Value>, value: unknown, path: string): Value {
  const parsed = validateAsSent(schema, value)
  if (!parsed.success) throw untranslatableField(parsed.error, path)
  return parsed.data
}
