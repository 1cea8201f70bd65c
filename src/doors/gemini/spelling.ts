import { invalid } from '../../core/errors.ts'
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
 * arguments and schemas, stay as they are. Throws LM-1001 for a member that stands there in both spellings.
 */
export function unifySpelling(value: object): object {
  return unify(value, countRequest, '') as object
}

/** Does the same for a request for embeddings. */
export function unifyEmbedSpelling(value: object): object {
  return unify(value, embedRequest, '') as object
}

function unify(value: unknown, shape: Member, path: string): unknown {
  if (isList(shape)) return unifyList(value, shape[0], path)
  if (shape === null || !isObject(value)) return value
  const unified: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    const known = findName(name, shape)
    const place = join(path, known ?? name)
    if (known !== undefined && Object.hasOwn(unified, known)) {
      throw invalid(`${place}: must not appear in both spellings, ${known} and ${name}`, place)
    }
    define(unified, known ?? name, unify(member, shape[known ?? ''] ?? null, place))
  }
  return unified
}

/** Returns a list of what may be one item. A text in place of objects stays: contents may be a text. */
function unifyList(value: unknown, item: Shape | null, path: string): unknown {
  if (Array.isArray(value)) return value.map((one, at) => unify(one, item, join(path, at)))
  const isItem = item === null ? value !== undefined && value !== null : isObject(value)
  return isItem ? [unify(value, item, join(path, 0))] : value
}

function isList(shape: Member): shape is readonly [Shape | null] {
  return Array.isArray(shape)
}

function findName(name: string, shape: Shape): string | undefined {
  if (Object.hasOwn(shape, name)) return name
  const camel = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  return Object.hasOwn(shape, camel) ? camel : undefined
}

/** An assignment would set the prototype for the name `__proto__`. */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}

function join(path: string, key: string | number): string {
  return path === '' ? String(key) : `${path}.${key}`
}
