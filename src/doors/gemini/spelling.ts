import { invalid } from '../../core/errors.ts'
import { defineMember } from '../../wire/json/define-member.ts'
import { isObject } from '../../wire/json/parse.ts'

/** The members of an object that the gateway reads. */
interface Shape {
  readonly [name: string]: Member
}

/** The shape of a value, or of the items of a list; `null` for any value. */
type Member = Shape | null | readonly [Shape | null]

const blob: Shape = { mimeType: null, data: null, displayName: null }
const fileData: Shape = { fileUri: null, mimeType: null, displayName: null }

const part: Shape = {
  text: null,
  thought: null,
  thoughtSignature: null,
  inlineData: blob,
  fileData,
  videoMetadata: null,
  functionCall: { id: null, name: null, args: null },
  functionResponse: {
    id: null,
    name: null,
    response: null,
    parts: [{ inlineData: blob, fileData }],
  },
  executableCode: null,
  codeExecutionResult: null,
  toolCall: null,
  toolResponse: null,
}

const content: Shape = { role: null, parts: [part] }

const generationConfig: Shape = {
  candidateCount: null,
  stopSequences: [null],
  maxOutputTokens: null,
  temperature: null,
  topP: null,
  topK: null,
  seed: null,
  presencePenalty: null,
  frequencyPenalty: null,
  responseLogprobs: null,
  logprobs: null,
  responseMimeType: null,
  responseSchema: null,
  responseJsonSchema: null,
  _responseJsonSchema: null,
  responseFormat: [{ text: { mimeType: null, schema: null } }],
  responseModalities: [null],
  thinkingConfig: { includeThoughts: null, thinkingBudget: null, thinkingLevel: null },
  speechConfig: null,
  mediaResolution: null,
  imageConfig: null,
  audioTimestamp: null,
  enableEnhancedCivicAnswers: null,
}

const tool: Shape = {
  functionDeclarations: [
    {
      name: null,
      description: null,
      parameters: null,
      parametersJsonSchema: null,
      response: null,
      responseJsonSchema: null,
      behavior: null,
    },
  ],
  googleSearch: null,
  googleSearchRetrieval: null,
  codeExecution: null,
  urlContext: null,
  computerUse: null,
  fileSearch: null,
  googleMaps: null,
}

const request: Shape = {
  model: null,
  contents: [content],
  systemInstruction: content,
  tools: [tool],
  toolConfig: {
    functionCallingConfig: { mode: null, allowedFunctionNames: [null] },
    includeServerSideToolInvocations: null,
    retrievalConfig: null,
  },
  generationConfig,
  safetySettings: null,
  cachedContent: null,
  serviceTier: null,
  store: null,
  labels: null,
}

const countRequest: Shape = { ...request, generateContentRequest: request }

const embedSettings: Shape = {
  taskType: null,
  title: null,
  outputDimensionality: null,
}

const embedItem: Shape = {
  model: null,
  content,
  ...embedSettings,
  embedContentConfig: embedSettings,
}

const embedRequest: Shape = { ...embedItem, requests: [embedItem] }

/**
 * Returns a request with the members that the gateway reads in camel case: clients write either spelling, and
 * Python's mixes them in one object. Where a list belongs, one item may stand by itself. Values of the user, such as
 * arguments and schemas, stay as they are, and so does every object that is in camel case already: only what changes
 * is copied. Throws LM-1001 for a member that stands there in both spellings.
 */
export function unifySpelling(value: object): object {
  return unify(value, countRequest, noPlace) as object
}

/** Does the same for a request for embeddings. */
export function unifyEmbedSpelling(value: object): object {
  return unify(value, embedRequest, noPlace) as object
}

/** Where a value is. The path is written only for a refusal: writing that of each value takes longer than the rest. */
interface Place {
  readonly key: string | number
  readonly parent: Place | undefined
}

type JsonObject = Record<string, unknown>

const noPlace: Place = Object.freeze({ key: '', parent: undefined })

function unify(value: unknown, shape: Member, place: Place): unknown {
  if (isList(shape)) return unifyList(value, shape[0], place)
  if (shape === null || !isObject(value)) return value
  const names = readNames(shape)
  let unified: JsonObject | undefined
  for (const name in value) {
    const known = names.get(name)
    if (known === undefined) continue
    if (known !== name) return rename(value, { shape, names, parent: place })
    const member = value[name]
    const changed = unify(member, shape[known] ?? null, { key: name, parent: place })
    if (changed === member) continue
    unified ??= { ...value }
    unified[name] = changed
  }
  return unified ?? value
}

interface Renaming {
  readonly shape: Shape
  readonly names: ReadonlyMap<string, string>
  readonly parent: Place
}

/** Copies an object with its own members in camel case. */
function rename(value: JsonObject, { shape, names, parent }: Renaming): JsonObject {
  const unified: JsonObject = {}
  for (const [name, member] of Object.entries(value)) {
    const known = names.get(name)
    const place = { key: known ?? name, parent }
    if (known !== undefined && Object.hasOwn(unified, known)) {
      const path = writePath(place)
      throw invalid(`${path}: must not appear in both spellings, ${known} and ${name}`, path)
    }
    defineMember(unified, known ?? name, unify(member, shape[known ?? ''] ?? null, place))
  }
  return unified
}

/** Returns a list of what may be one item. A text in place of objects stays: contents may be a text. */
function unifyList(value: unknown, item: Shape | null, parent: Place): unknown {
  if (Array.isArray(value)) return unifyItems(value, item, parent)
  const isItem = item === null ? value !== undefined && value !== null : isObject(value)
  return isItem ? [unify(value, item, { key: 0, parent })] : value
}

function unifyItems(items: readonly unknown[], shape: Shape | null, parent: Place): unknown {
  if (shape === null) return items
  let unified: unknown[] | undefined
  for (const [key, item] of items.entries()) {
    const changed = unify(item, shape, { key, parent })
    if (changed === item) continue
    unified ??= [...items]
    unified[key] = changed
  }
  return unified ?? items
}

function isList(shape: Member): shape is readonly [Shape | null] {
  return Array.isArray(shape)
}

const namesByShape = new WeakMap<Shape, ReadonlyMap<string, string>>()

/** Returns the members of a shape by all their spellings. Looking up a name takes less time than rewriting it. */
function readNames(shape: Shape): ReadonlyMap<string, string> {
  const known = namesByShape.get(shape)
  if (known) return known
  const names = new Map(
    Object.keys(shape).flatMap((name) => listSpellings(name).map((spelled) => [spelled, name])),
  )
  namesByShape.set(shape, names)
  return names
}

/** Lists the spellings of a name, in which each capital may be a small letter behind an underscore. */
function listSpellings(name: string): readonly string[] {
  return name
    .split(/(?=[A-Z])/)
    .map((word, at) =>
      at === 0 ? [word] : [word, `_${word.charAt(0).toLowerCase()}${word.slice(1)}`],
    )
    .reduce((starts, ends) => starts.flatMap((start) => ends.map((end) => start + end)))
}

function writePath(place: Place): string {
  const keys: (string | number)[] = []
  for (let at: Place | undefined = place; at?.parent; at = at.parent) keys.push(at.key)
  return keys.reverse().join('.')
}
