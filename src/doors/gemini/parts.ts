import { newCallId } from '../../core/ids.ts'
import { isObject, type JsonObject, tryParseJson } from '../../wire/json/parse.ts'
import { RawJson } from '../../wire/json/raw.ts'
import { minifyJson } from '../../wire/json/text.ts'
import { type CallContent, type ChoiceContent } from '../choice.ts'
import {
  type CallProof,
  type ExtraContent,
  type GivenProof,
  type KeptThinking,
  type PastProof,
  readExtraContent,
  readKeptThinking,
} from '../proofs.ts'
import { WholeCharacters } from '../whole-characters.ts'
import { encodeSignature } from './signatures.ts'

/** A call whose pieces have been joined. */
interface Call {
  readonly given: string
  id: string
  name: string
  arguments: string
  extra: JsonObject | undefined
}

/**
 * Collects what a candidate has besides its text: calls, which are sent whole, the sources, and what the vendor
 * expects back. These come at the end of the answer.
 */
export class CandidateParts {
  /** Joins the texts of deltas before they are added. */
  readonly characters = new WholeCharacters()
  readonly #model: string
  readonly #calls: Call[] = []
  /** The latest call of each index, and of each id that the vendor gave. */
  readonly #byIndex = new Map<number, Call>()
  readonly #byId = new Map<string, Call>()
  readonly #thinking: KeptThinking[] = []
  readonly #past: PastProof[] = []
  readonly #sources: JsonObject[] = []
  #message: ExtraContent | undefined
  #content: JsonObject | undefined
  #finishReason: string | undefined
  #isRefused = false

  /** `model` is the client-facing id of the model that answers. */
  constructor(model: string) {
    this.#model = model
  }

  /** Adds a delta, or a whole answer. */
  add(choice: ChoiceContent): void {
    const { past, thinkingBlocks, annotations, extra, content, refusal, finishReason } = choice
    for (const call of choice.calls) this.#addCall(call)
    for (const block of readKeptThinking(thinkingBlocks)) this.#thinking.push(block)
    if (past) {
      const { lineage, form, text, entries, gap } = past
      this.#past.push({ lineage, form, text, entries: entries && [...entries], gap })
    }
    for (const source of annotations) this.#sources.push(source)
    this.#message = readExtraContent(extra) ?? this.#message
    this.#content = content ?? this.#content
    this.#isRefused ||= refusal !== ''
    this.#finishReason = finishReason ?? this.#finishReason
  }

  /**
   * Ends the candidate. Returns its last parts: the calls, of which the first carries the proof of the answer, or
   * else `text`, the last text, which carries it then. `text` is undefined where nothing is left to be said.
   */
  finish(text: string | undefined): readonly object[] {
    const signature = this.#sign()
    const calls = this.#calls.map(({ id, name, arguments: args }) => ({
      functionCall: { id, name, args: toArguments(args) },
    }))
    const [first, ...others] = calls
    const signed = signature !== undefined && { thoughtSignature: signature }
    if (first) {
      return [...(text ? [{ text }] : []), { ...first, ...signed }, ...others]
    }
    return text === undefined && !signed ? [] : [{ text: text ?? '', ...signed }]
  }

  /** The reason in Gemini's words. An answer without one has ended by itself. */
  get finishReason(): string {
    if (this.#isRefused) return 'SAFETY'
    return reasons.get(this.#finishReason ?? 'stop') ?? 'STOP'
  }

  /** The members of the candidate that name its sources. */
  get grounding(): object {
    const chunks = this.#sources.flatMap(({ url_citation: cited }) => {
      if (!isObject(cited)) return []
      const { url, title } = cited
      return typeof url === 'string' ? [{ web: { uri: url, title: title ?? url } }] : []
    })
    return chunks.length === 0 ? {} : { groundingMetadata: { groundingChunks: chunks } }
  }

  /** Some servers leave out the index, or repeat it for a further call, which then has an id of its own. */
  #addCall({ index, id, name, arguments: piece, extra }: CallContent): void {
    const last = this.#calls.at(-1)
    const known = index === undefined ? (this.#byId.get(id) ?? last) : this.#byIndex.get(index)
    const isOther = known !== undefined && id !== '' && name !== '' && known.given !== id
    const isNamed = index === undefined && id === '' && name !== ''
    if (!known || isOther || isNamed) {
      const call = { given: id, id: id || newCallId(), name, arguments: piece, extra }
      this.#calls.push(call)
      if (index !== undefined) this.#byIndex.set(index, call)
      if (id !== '') this.#byId.set(id, call)
      return
    }
    known.name ||= name
    known.arguments += piece
    known.extra ??= extra
  }

  #sign(): string | undefined {
    const calls: CallProof[] = this.#calls.flatMap(({ id, extra }) => {
      const proof = readExtraContent(extra)
      return proof ? [{ id, extra: proof }] : []
    })
    const proof: Omit<GivenProof, 'model'> = {
      ...(this.#past.length > 0 && { past: this.#past }),
      ...(this.#thinking.length > 0 && { thinking: this.#thinking }),
      ...(calls.length > 0 && { calls }),
      ...(this.#message && { message: this.#message }),
      ...(this.#content && { content: this.#content }),
    }
    if (Object.keys(proof).length === 0) return undefined
    return encodeSignature({ model: this.#model, ...proof })
  }
}

/** `CONTINUATION` is never written: new SDKs would go on by themselves. */
const reasons: ReadonlyMap<string, string> = new Map([
  ['length', 'MAX_TOKENS'],
  ['content_filter', 'SAFETY'],
])

/** The exact text of an object, in one line as a chunk must be; any other text stays visible inside of one. */
function toArguments(text: string): RawJson | object {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed === 'null') return {}
  if (!isObject(tryParseJson(trimmed))) return { rawInvalidInput: text }
  return new RawJson(/[\r\n]/.test(trimmed) ? minifyJson(trimmed) : trimmed)
}

/** Returns the images of a choice, as the chat APIs of some vendors answer them. */
export function listImageParts({ delta, message }: JsonObject): readonly object[] {
  const { images } = isObject(delta) ? delta : isObject(message) ? message : noContent
  if (!Array.isArray(images)) return []
  return images.flatMap((image: unknown) => {
    const address: unknown =
      isObject(image) && isObject(image['image_url']) && image['image_url']['url']
    const [, mimeType, data] =
      typeof address === 'string' ? (/^data:([^;,]+);base64,(.*)$/s.exec(address) ?? []) : []
    return mimeType === undefined ? [] : [{ inlineData: { mimeType, data } }]
  })
}

const noContent: JsonObject = Object.freeze({})
