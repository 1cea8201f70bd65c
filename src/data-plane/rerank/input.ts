import { GatewayError, invalid } from '../../core/errors.ts'
import { invalidField, schemaMessages } from '../../core/invalid-field.ts'
import { type RerankCall, rerankRequest } from '../../core/rerank.ts'
import { readJsonBody } from '../../wire/json/body.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'

/** More than any vendor accepts. Without a bound, a server that accepts few would get endless calls. */
const maxDocuments = 16_384
/** A bound, because each field is looked up in each document. */
const maxFields = 64

/** Reads a rerank request: LM-2010 without documents, LM-1001 with the field at fault. */
export async function readRerank(bytes: Uint8Array, slice: TimeSlice): Promise<RerankCall> {
  const { value } = await readJsonBody(bytes, {
    names: ['model'],
    unique: ['model'],
    timeSlice: slice,
  })
  const parsed = rerankRequest.safeParse(value, schemaMessages)
  if (!parsed.success) throw invalidField(parsed.error)
  const { model, query, top_n: topN, top_k: topK, return_documents: returnDocuments } = parsed.data
  const documents = readDocuments(parsed.data.documents, readFields(parsed.data.rank_fields ?? []))
  const most = topN ?? topK ?? undefined
  await slice.pause()
  return {
    model,
    query,
    documents,
    // Some vendors refuse a top_n above the number of documents.
    topN: most && Math.min(most, documents.length),
    returnDocuments: returnDocuments === true,
  }
}

/** Removes duplicates: with them, a document could become many times as long as the request. */
function readFields(named: string | readonly string[]): readonly string[] {
  const fields = [...new Set([named].flat())]
  if (fields.length <= maxFields) return fields
  throw invalid(`rank_fields: must have at most ${maxFields} names`, 'rank_fields')
}

function readDocuments(documents: unknown, fields: readonly string[]): readonly string[] {
  if (documents === undefined) throw invalid('documents is required', 'documents')
  if (!Array.isArray(documents)) {
    throw invalid('documents: must be an array of strings or objects', 'documents')
  }
  if (documents.length === 0) {
    throw new GatewayError('LM-2010', 'documents: must not be empty', { param: 'documents' })
  }
  if (documents.length > maxDocuments) {
    throw invalid(
      `documents: must have at most ${maxDocuments} items; send several requests`,
      'documents',
    )
  }
  return documents.map((document, index) => readDocument(document, fields, `documents.${index}`))
}

/** Reads the text of a document: the chosen fields, one a line, or else its `text`. */
function readDocument(document: unknown, fields: readonly string[], path: string): string {
  if (typeof document === 'string') return document
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw invalid(`${path}: must be a string or an object`, path)
  }
  if (fields.length === 0) {
    const text = getOwnMember(document, 'text')
    if (typeof text === 'string') return text
    throw invalid(
      `${path}: must have a text field, or the request must name fields in rank_fields`,
      path,
    )
  }
  const values = fields.map((name) => getOwnMember(document, name) ?? undefined)
  const chosen = values.filter((value) => value !== undefined)
  if (chosen.length === 0) throw invalid(`${path}: has none of the fields in rank_fields`, path)
  return chosen.map(toText).join('\n')
}

/** Reads own members only: a field may be called `constructor`, which every object inherits. */
function getOwnMember(document: object, name: string): unknown {
  return Object.hasOwn(document, name) ? Reflect.get(document, name) : undefined
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
