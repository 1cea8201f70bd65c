import type { EmbedPart, MixedItem } from '../../core/embeddings.ts'
import { invalid } from '../../core/errors.ts'
import { toStandardBase64 } from './base64.ts'
import { type EmbedItem, type GeminiPart, listParts, toNumber } from './schema.ts'

/** One content to embed, as far as other APIs have the same. */
export interface ReadItem {
  readonly item: MixedItem
  /** Why no other API can embed the content. */
  readonly problem: ItemProblem | undefined
  /** What the content is embedded for; without a value where only Google has the word. */
  readonly inputType: EmbedSetting<string> | undefined
  readonly dimensions: EmbedSetting<number> | undefined
  /** The path of the title of a document. */
  readonly title: string | undefined
}

export interface EmbedSetting<Value> {
  readonly value: Value | undefined
  readonly path: string
}

interface ItemProblem {
  readonly message: string
  readonly path: string
}

export interface ItemPlace {
  /** The path of the item with its dot; empty for the body itself. */
  readonly path: string
  /** The model of the address. */
  readonly model: string
}

/** Reads one content with its settings. Throws LM-1001 for another model than that of the address. */
export function readItem(given: EmbedItem, { path, model }: ItemPlace): ReadItem {
  checkModel(given.model, { path, model })
  const read = readContent(given, path)
  // Vertex AI has the settings in a member of their own.
  const { embedContentConfig: config } = given
  const settings = config ?? given
  const at = config ? `${path}embedContentConfig.` : path
  return {
    ...read,
    inputType: readTaskType(settings.taskType, `${at}taskType`),
    dimensions: readDimensions(settings.outputDimensionality, `${at}outputDimensionality`),
    title: settings.title ? `${at}title` : undefined,
  }
}

/** Checks the name of a model, which may be one of the resource: `models/{id}`. */
function checkModel(name: string | null | undefined, { path, model }: ItemPlace): void {
  if (!name || name === model || `/${name}`.endsWith(`/models/${model}`)) return
  throw invalid(`${path}model: must be the model of the address`, `${path}model`)
}

/** The words by their numbers: https://ai.google.dev/api/embeddings#TaskType */
const taskTypes = [
  'TASK_TYPE_UNSPECIFIED',
  'RETRIEVAL_QUERY',
  'RETRIEVAL_DOCUMENT',
  'SEMANTIC_SIMILARITY',
  'CLASSIFICATION',
  'CLUSTERING',
]

const inputTypes: ReadonlyMap<string | undefined, string> = new Map([
  ['RETRIEVAL_QUERY', 'search_query'],
  ['RETRIEVAL_DOCUMENT', 'search_document'],
  ['CLASSIFICATION', 'classification'],
  ['CLUSTERING', 'clustering'],
])

function readTaskType(
  given: EmbedItem['taskType'],
  path: string,
): EmbedSetting<string> | undefined {
  const word = typeof given === 'number' ? (taskTypes[given] ?? 'unknown') : given?.toUpperCase()
  if (!word || word === taskTypes[0]) return undefined
  return { value: inputTypes.get(word), path }
}

function readDimensions(
  given: EmbedItem['outputDimensionality'],
  path: string,
): EmbedSetting<number> | undefined {
  const value = toNumber(given)
  if (value !== undefined && value < 0) throw invalid(`${path}: must be at least 1`, path)
  // 0 is absent in protocol buffers.
  return value ? { value, path } : undefined
}

/** Reads a content. Its texts are joined: clients send the texts for one vector as parts of one content. */
function readContent({ content }: EmbedItem, place: string): Pick<ReadItem, 'item' | 'problem'> {
  const path = `${place}content`
  const given = typeof content === 'string' ? [{ text: content }] : listParts(content)
  const parts: EmbedPart[] = []
  let problem: ItemProblem | undefined
  for (const [at, part] of given.entries()) {
    const read = readPart(part, `${path}.parts.${at}`)
    if ('problem' in read) problem ??= read.problem
    else parts.push(read)
  }
  const texts = parts.flatMap((part) => (part.kind === 'text' ? part.text : []))
  const isText = texts.length === parts.length
  const text = texts.join(' ')
  // Vendors differ on an empty text: an error, zeros, or one vector too few.
  if (isText && text === '') problem ??= { message: `${path}: must not be empty`, path }
  return { item: isText ? text : parts, problem }
}

function readPart(
  { text, inlineData }: GeminiPart,
  path: string,
): EmbedPart | { readonly problem: ItemProblem } {
  if (typeof text === 'string') return { kind: 'text', text }
  const { mimeType, data } = inlineData ?? {}
  if (!mimeType?.startsWith('image/') || !data) {
    const rule = 'only texts and inline images can be sent to this model'
    return { problem: { message: `${path}: ${rule}`, path } }
  }
  const url = `data:${mimeType};base64,${toStandardBase64(data)}`
  return { kind: 'image', image: { url, detail: undefined, path: `${path}.inlineData` } }
}
