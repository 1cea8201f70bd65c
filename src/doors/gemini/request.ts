import type { ChatRequest, ImagePart, OutputEstimate } from '../../core/chat.ts'
import type { ChatAnswer, NativeCall } from '../../core/endpoints.ts'
import { invalid } from '../../core/errors.ts'
import type { CacheLife, MemberLayout, ObjectLayout } from '../../core/layout.ts'
import type { BufferedBody, TokenEncoding } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import { runAtOnce, type Steps } from '../../core/steps.ts'
import type {
  DoorCall,
  EarlyWriter,
  KeptAnswer,
  LinkCall,
  ReceivedRequest,
  WriterContext,
} from '../../data-plane/index.ts'
import type { StreamWriter } from '../../stream/stream-writer.ts'
import { type TokenCountInput, toChatCountInput } from '../../tokens/index.ts'
import { readJsonBody } from '../../wire/json/body.ts'
import { scanLayout } from '../../wire/json/scan.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import { BoundLinks } from '../bound-links.ts'
import type { NativeRequest } from '../native-link.ts'
import { ParsedBody } from '../parsed-body.ts'
import { RequestProofs } from '../request-proofs.ts'
import { readPrefix } from '../session.ts'
import {
  anyTarget,
  type ChatTarget,
  type DoorRequest,
  type ServedAnswer,
} from '../translated-link.ts'
import { type GeminiAddress, readAddress } from './address.ts'
import { renderAnswer } from './answer.ts'
import { type ChatPlaces, locatePath, type WrittenChat, writeChat } from './chat-request.ts'
import { estimatePrompt } from './estimate.ts'
import { readExactTexts } from './exact-texts.ts'
import { convertShape } from './forms.ts'
import { matchGemini } from './match.ts'
import { NativeStreamWriter } from './native.ts'
import {
  checkRequest,
  type GeminiHead,
  type GeminiRequest,
  listContents,
  listParts,
  toNumber,
} from './schema.ts'
import { listProofs, openSignature, skipOwnSignatures } from './signatures.ts'
import { unifySpelling } from './spelling.ts'
import { GeminiStreamWriter } from './stream.ts'

const names = [
  'model',
  'stream_options',
  'generationConfig',
  'generation_config',
  'systemInstruction',
  'system_instruction',
  'tools',
  'contents',
  'labels',
  'store',
  'serviceTier',
  'service_tier',
] as const

/** Members that the Gemini API has and Vertex AI does not, or the other way round. */
const foreign = ['labels', 'store', 'serviceTier', 'service_tier'] as const

/** Members that decide what a request costs. Each may occur once, because upstreams differ in which one counts. */
const unique = ['generationConfig', 'generation_config', 'serviceTier', 'service_tier'] as const
const uniqueSettings = [
  'maxOutputTokens',
  'max_output_tokens',
  'candidateCount',
  'candidate_count',
] as const

/** Reads a request of the Gemini API, or throws LM-1001 with the field at fault. */
export async function readGemini({
  bytes,
  request,
  slice,
  isUtf8,
}: ReceivedRequest): Promise<ParsedGemini> {
  const address = readAddress(request.url)
  const matched = matchGemini(bytes, isUtf8)
  if (matched) return new ParsedGemini({ bytes, address, ...matched })
  await slice.pause()
  const { layout, value } = await readJsonBody(bytes, { names, unique, timeSlice: slice })
  checkSettings(bytes, layout)
  const unified = unifySpelling(value)
  await slice.pause()
  const parsed = checkRequest(unified)
  await slice.pause()
  const own = listProofs(parsed)
  const proofs = new RequestProofs(openSignature)
  await proofs.check(own, { values: layout.values, slice })
  await slice.pause()
  const hasOwnProofs = own.length > 0
  const read = { bytes, layout, head: parsed, parsed, proofs, hasOwnProofs }
  const call = new ParsedGemini({ address, ...read })
  if (call.isHeavy) await call.measure(slice)
  return call
}

type GeminiLayout = MemberLayout<(typeof names)[number]> &
  Pick<ObjectLayout<never>, 'values' | 'commas' | 'cacheLife'>

function checkSettings(bytes: Uint8Array, { spans }: GeminiLayout): void {
  for (const { start, end } of [...spans.generationConfig, ...spans.generation_config]) {
    const config = scanLayout(bytes.subarray(start, end), uniqueSettings)
    const repeated = uniqueSettings.find(
      (name) => config.spans[name].length > 1 || config.misspelled.includes(name),
    )
    if (repeated === undefined) continue
    const place = `generationConfig.${repeated}`
    throw invalid(`${place}: must appear only once, in exactly this spelling`, place)
  }
}

/** A Gemini request as far as it is read. */
interface GeminiSource {
  readonly bytes: Uint8Array
  readonly layout: GeminiLayout
  readonly address: GeminiAddress
  readonly head: Pick<GeminiHead, 'generationConfig'>
  /** Undefined when only the bytes were read: then it has neither media nor signatures of the gateway. */
  readonly parsed?: GeminiRequest
  readonly promptTokens?: number
  readonly proofs?: RequestProofs
  /** A part has a signature of the gateway. */
  readonly hasOwnProofs?: boolean
}

/** A Gemini request. A heavy one does not stay parsed: it is parsed again when it is needed. */
export class ParsedGemini implements DoorCall, DoorRequest, NativeRequest {
  readonly model: string
  readonly stream: boolean
  readonly streamType: string | undefined
  readonly choices: number
  /** Gemini CLI sends it with each request. */
  readonly unsaid: ReadonlySet<string> = unsaid
  readonly size: GeminiLayout
  readonly call: NativeCall
  readonly #address: GeminiAddress
  readonly #maxTokens: number | undefined
  readonly #showsThoughts: boolean
  readonly #hasOwnProofs: boolean
  readonly #proofs: RequestProofs
  readonly #body: ParsedBody<object>
  #unified: GeminiRequest | undefined
  #promptTokens: number | undefined
  #images: readonly ImagePart[] | undefined
  /** Where the parts of the latest chat request come from. */
  #written: { readonly target: ChatTarget; readonly places: ChatPlaces } | undefined
  readonly #links: BoundLinks

  constructor({ bytes, layout, address, head, parsed, ...rest }: GeminiSource) {
    const { generationConfig: config } = head
    this.#body = new ParsedBody({ bytes, values: layout.values, value: parsed })
    this.#links = new BoundLinks(this, { api: 'gemini', body: this.#body })
    this.#unified = parsed
    this.#promptTokens = rest.promptTokens
    this.#images = parsed ? undefined : []
    this.#address = address
    this.model = address.model
    this.stream = address.shape !== 'whole'
    this.streamType = address.shape === 'array' ? 'application/json' : undefined
    this.choices = Math.max(1, toNumber(config?.candidateCount) ?? 1)
    this.#maxTokens = toNumber(config?.maxOutputTokens)
    this.#showsThoughts = config?.thinkingConfig?.includeThoughts === true
    this.#hasOwnProofs = rest.hasOwnProofs ?? false
    this.#proofs = rest.proofs ?? new RequestProofs(openSignature)
    this.size = layout
    this.call = {
      bytes,
      layout,
      stream: this.stream,
      headers: {},
      query: '',
      foreign: foreign.filter((name) => layout.spans[name].length > 0),
    }
  }

  get images(): readonly ImagePart[] {
    this.#images ??= listImages(this.#request)
    return this.#images
  }

  /** The estimated tokens of the prompt, computed once. */
  get promptTokens(): number {
    this.#promptTokens ??= estimatePrompt(this.#request, this.#proofs)
    return this.#promptTokens
  }

  /** Computes what the next steps need of the whole request, one after the other. */
  async measure(slice: TimeSlice): Promise<void> {
    void this.promptTokens
    await slice.pause()
    void this.images
    await slice.pause()
  }

  get cacheLife(): CacheLife {
    return this.size.cacheLife
  }

  get askedTokens(): number {
    return this.#maxTokens ?? 0
  }

  /** No member of the API names one. */
  get session(): undefined {
    return undefined
  }

  get prefix(): string | undefined {
    const { spans } = this.size
    const system = [...spans.systemInstruction, ...spans.system_instruction]
    return readPrefix(this.call.bytes, { system, tools: spans.tools, messages: spans.contents })
  }

  get isHeavy(): boolean {
    return this.#body.isHeavy
  }

  get isLarge(): boolean {
    return this.#body.isLarge
  }

  prepareFor(link: Model, slice: TimeSlice): Promise<void> | undefined {
    return this.#links.prepareFor(link, slice)
  }

  toCountInput(encoding: TokenEncoding, output: string): TokenCountInput {
    return toChatCountInput({ encoding, request: runAtOnce(this.#write(anyTarget)).chat, output })
  }

  bind(link: Model): LinkCall {
    return this.#links.bind(link)
  }

  forget(): void {
    if (!this.#body.mustForget) return
    void this.promptTokens
    this.#body.forget()
    this.#unified = undefined
    this.#proofs.forget()
    this.#links.forget()
  }

  estimateOutput(): OutputEstimate {
    const maxTokens = this.#maxTokens ?? 0
    return { maxTokens, isBounded: maxTokens > 0, choices: this.choices }
  }

  /** Gemini refuses the signatures of the gateway. It takes a word in their place for calls of other models. */
  toNative(): NativeCall {
    if (!this.#hasOwnProofs) return this.call
    const json = decoder.decode(this.call.bytes)
    const bytes = encoder.encode(skipOwnSignatures(json))
    return { ...this.call, bytes, layout: scanLayout(bytes, ['model', 'stream_options']) }
  }

  createEarlyWriter(context: WriterContext): EarlyWriter {
    return this.createNativeWriter(context)
  }

  createNativeWriter(context: WriterContext): StreamWriter {
    return new NativeStreamWriter(context, this.#address.shape)
  }

  *toChat(target: ChatTarget): Steps<ChatRequest> {
    const { chat } = yield* this.#write(target)
    return chat
  }

  listDropped(target: ChatTarget): readonly string[] {
    return this.#placesFor(target).dropped
  }

  locate(path: string, target: ChatTarget): string {
    return locatePath(path, this.#placesFor(target))
  }

  convertAnswer({ body }: KeptAnswer, slice: TimeSlice): Promise<BufferedBody> {
    return convertShape(body, { shape: this.#address.shape, slice })
  }

  renderAnswer(answer: ChatAnswer, served: ServedAnswer): Steps<BufferedBody> {
    return renderAnswer(answer, { ...served, showsThoughts: this.#showsThoughts })
  }

  createWriter(context: WriterContext): StreamWriter {
    const { shape } = this.#address
    return new GeminiStreamWriter(context, { shape, showsThoughts: this.#showsThoughts })
  }

  get #request(): GeminiRequest {
    // Checked when it was read, by the shape or by the schema.
    this.#unified ??= unifySpelling(this.#body.value) as GeminiRequest
    return this.#unified
  }

  #placesFor(target: ChatTarget): ChatPlaces {
    if (this.#written?.target === target) return this.#written.places
    return runAtOnce(this.#write(target)).places
  }

  *#write(target: ChatTarget): Steps<WrittenChat> {
    const written = yield* writeChat(this.#request, {
      target,
      isStream: this.stream,
      proofs: this.#proofs,
      readText: createTextReader(this.call.bytes),
    })
    this.#written = { target, places: written.places }
    return written
  }
}

const unsaid: ReadonlySet<string> = new Set(['top_k'])

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Creates a reader of values as the client wrote them. */
function createTextReader(bytes: Uint8Array): (path: string) => string | undefined {
  let texts: ReadonlyMap<string, string> | undefined
  return (path) => {
    texts ??= readExactTexts(decoder.decode(bytes))
    return texts.get(path)
  }
}

function listImages(request: GeminiRequest): readonly ImagePart[] {
  return listContents(request).flatMap((content, index) =>
    listParts(content).flatMap((part, at) => {
      const path = `contents.${index}.parts.${at}`
      const own = toImage(part, path)
      const inner = (part.functionResponse?.parts ?? []).flatMap((each, n) =>
        toImage(each, `${path}.functionResponse.parts.${n}`),
      )
      return [...own, ...inner]
    }),
  )
}

/** Inline data is only named, because a copy could be large. */
function toImage(
  {
    inlineData,
    fileData,
  }: NonNullable<
    NonNullable<ReturnType<typeof listParts>[number]['functionResponse']>['parts']
  >[number],
  path: string,
): ImagePart[] {
  const type = inlineData?.mimeType ?? fileData?.mimeType
  if (!type?.startsWith('image/')) return []
  return inlineData
    ? [{ url: 'data:', detail: undefined, path: `${path}.inlineData` }]
    : [{ url: fileData?.fileUri ?? '', detail: undefined, path: `${path}.fileData` }]
}
