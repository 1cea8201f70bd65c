import * as z from 'zod'
import { list, loose, validateAsSent } from '../../core/as-sent.ts'
import { invalidField, untranslatableField } from '../../core/invalid-field.ts'
import { isObject } from '../../wire/json/parse.ts'
import { unifySpelling } from './spelling.ts'

/*
 * What the gateway reads of a request, after its spelling was unified. Everything else reaches Google's own
 * upstreams unchanged, so every object is loose.
 */

const text = z.string().nullish()
const anyObject = loose({}).nullish()

/** By the JSON form of protocol buffers, numbers may be texts, and words may be numbers. */
const whole = z
  .union([z.int(), z.string().regex(/^-?\d{1,15}$/, 'must be a whole number')])
  .nullish()
const number = z
  .union([
    z.number(),
    z.string().regex(/^-?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,2})?$/, 'must be a number'),
  ])
  .nullish()
const word = z.union([z.string(), z.int()])

const blob = loose({ mimeType: text, data: text })
const file = loose({ fileUri: text, mimeType: text })

const part = loose({
  text,
  thought: z.boolean().nullish(),
  thoughtSignature: text,
  inlineData: blob.nullish(),
  fileData: file.nullish(),
  functionCall: loose({ id: text, name: text, args: anyObject }).nullish(),
  functionResponse: loose({
    id: text,
    name: text,
    response: z.unknown().optional(),
    parts: list(loose({ inlineData: blob.nullish(), fileData: file.nullish() })).nullish(),
  }).nullish(),
})

const content = loose({ role: text, parts: list(part).nullish() })
const contents = z.union([list(content, 1), z.string()])

const declaration = loose({ name: text, description: text })

const generationConfig = loose({
  candidateCount: whole,
  stopSequences: list(z.string()).nullish(),
  maxOutputTokens: whole,
  temperature: number,
  topP: number,
  topK: number,
  seed: whole,
  presencePenalty: number,
  frequencyPenalty: number,
  responseLogprobs: z.boolean().nullish(),
  logprobs: whole,
  responseMimeType: text,
  responseModalities: list(word).nullish(),
  responseFormat: list(loose({ text: loose({ mimeType: word.nullish() }).nullish() })).nullish(),
  thinkingConfig: loose({
    includeThoughts: z.boolean().nullish(),
    thinkingBudget: whole,
    thinkingLevel: word.nullish(),
  }).nullish(),
})

/** The members that are short in most requests. */
const headMembers = {
  toolConfig: loose({
    functionCallingConfig: loose({
      mode: word.nullish(),
      allowedFunctionNames: list(z.string()).nullish(),
    }).nullish(),
  }).nullish(),
  generationConfig: generationConfig.nullish(),
  // By its number the price of the tier would be unknown.
  serviceTier: z.string('must be the name of a tier').nullish(),
  cachedContent: text,
}

const members = {
  ...headMembers,
  systemInstruction: z.union([content, z.string()]).nullish(),
  tools: list(loose({ functionDeclarations: list(declaration).nullish() })).nullish(),
}

const headOnly = loose(headMembers)
const request = loose({ contents, ...members })
const countRequest = loose({
  contents: contents.nullish(),
  ...members,
  generateContentRequest: request.nullish(),
})

const embedSettings = {
  taskType: word.nullish(),
  title: text,
  outputDimensionality: whole,
}
const embedItem = loose({
  model: text,
  content: z.union([content, z.string()]),
  ...embedSettings,
  embedContentConfig: loose(embedSettings).nullish(),
})
const embedBatch = loose({ model: text, requests: list(embedItem, 1) })

export type EmbedItem = z.infer<typeof embedItem>
export type EmbedBatch = z.infer<typeof embedBatch>
export type GeminiRequest = z.infer<typeof request>
export type GeminiHead = z.infer<typeof headOnly>
export type GeminiContent = z.infer<typeof content>
export type GeminiPart = z.infer<typeof part>
export type GeminiTools = GeminiRequest['tools']
export type GenerationConfig = z.infer<typeof generationConfig>

/** Checks a request to generate; LM-1001 with the field at fault. */
export function checkRequest(value: unknown): GeminiRequest {
  const read = validateAsSent(request, value)
  if (!read.success) throw invalidField(read.error)
  return read.data
}

/** Reads the short members of a request; undefined when one of them is at fault. They are in either spelling. */
export function readHead(head: Readonly<Record<string, unknown>>): GeminiHead | undefined {
  if (isPlainHead(head)) return head
  const read = validateAsSent(headOnly, unifySpelling(head))
  return read.success ? read.data : undefined
}

/** True when there are only settings that most requests have, whose schema takes longer than all the rest. */
function isPlainHead(head: Readonly<Record<string, unknown>>): boolean {
  for (const name in head) if (name !== 'generationConfig') return false
  const { generationConfig: config } = head
  if (config === undefined) return true
  if (!isObject(config)) return false
  for (const name in config) if (!plainSettings.get(name)?.(config[name])) return false
  return true
}

const isNumber = Number.isFinite

const plainSettings: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['temperature', isNumber],
  ['topP', isNumber],
  ['topK', isNumber],
  ['maxOutputTokens', Number.isSafeInteger],
  ['candidateCount', Number.isSafeInteger],
  ['seed', Number.isSafeInteger],
])

/** Checks a request to count, and returns what is counted: old clients put it into `generateContentRequest`. */
export function checkCountRequest(value: unknown): GeminiRequest {
  const read = validateAsSent(countRequest, value)
  if (!read.success) throw invalidField(read.error)
  const { generateContentRequest: inner, contents: given } = read.data
  if (inner) return inner
  // With contents, the checks of both are the same; without them, this refuses the request.
  return given ? (read.data as GeminiRequest) : checkRequest(read.data)
}

/** Checks a request to embed one content; LM-1001 with the field at fault. */
export function checkEmbedRequest(value: unknown): EmbedItem {
  const read = validateAsSent(embedItem, value)
  if (!read.success) throw invalidField(read.error)
  return read.data
}

/** Checks a request to embed several contents; LM-1001 with the field at fault. */
export function checkEmbedBatch(value: unknown): EmbedBatch {
  const read = validateAsSent(embedBatch, value)
  if (!read.success) throw invalidField(read.error)
  return read.data
}

/** The schema of parameters or of an answer: an object. */
export const schemaObject = loose({})

/** Checks a value that is to be translated. Throws `UntranslatableError` with the field at fault. */
export function checkPart<Value>(schema: z.ZodType<Value>, value: unknown, path: string): Value {
  const read = validateAsSent(schema, value)
  if (!read.success) throw untranslatableField(read.error, path)
  return read.data
}

/** Returns the contents as a list: they may be one text. */
export function listContents({
  contents: given,
}: Pick<GeminiRequest, 'contents'>): readonly GeminiContent[] {
  return typeof given === 'string' ? [{ role: 'user', parts: [{ text: given }] }] : given
}

/** Returns the parts of a content. */
export function listParts({ parts }: GeminiContent): readonly GeminiPart[] {
  return parts ?? []
}

/** Reads a number, which may be a text. */
export function toNumber(value: number | string | null | undefined): number | undefined {
  return value === undefined || value === null ? undefined : Number(value)
}
