import type { EmbedCall } from '../../core/embeddings.ts'
import { invalid } from '../../core/errors.ts'
import type { Model } from '../../core/provider.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { Usage } from '../../core/usage.ts'
import {
  type EmbedDoor,
  type EmbedDoorCall,
  getEndpoint,
  maxItems,
  type VectorWriting,
} from '../../data-plane/index.ts'
import { readJsonBody } from '../../wire/json/body.ts'
import { methodPath, readAddress } from './address.ts'
import { type ReadItem, readItem } from './embed-item.ts'
import { geminiForm } from './error.ts'
import { checkEmbedBatch, checkEmbedRequest } from './schema.ts'
import { unifyEmbedSpelling } from './spelling.ts'

/** The methods for embeddings of the Gemini API: https://ai.google.dev/api/embeddings */
export const geminiEmbedDoor: EmbedDoor = Object.freeze<EmbedDoor>({
  paths: [methodPath('embedContent'), methodPath('batchEmbedContents')],
  form: geminiForm,
  async read({ bytes, request, slice }) {
    const { model, method } = readAddress(request.url)
    const { value } = await readJsonBody(bytes, { names: unique, unique, timeSlice: slice })
    const items = method === 'embedContent' ? readOne(value, model) : readBatch(value, model)
    await slice.pause()
    return {
      model,
      ...toSets(items, model),
      native: { api: 'gemini', bytes, method },
      writing: method === 'embedContent' ? oneVector : listOfVectors,
      listDropped: (link) => listDropped(items, link),
    }
  },
})

/** Members of which upstreams could differ in which one counts. */
const unique = ['model', 'content', 'requests'] as const

function readOne(value: object, model: string): readonly ReadItem[] {
  return [readItem(checkEmbedRequest(unifyEmbedSpelling(value)), { path: '', model })]
}

function readBatch(value: object, model: string): readonly ReadItem[] {
  const { requests } = checkEmbedBatch(unifyEmbedSpelling(value))
  if (requests.length > maxItems) {
    throw invalid(`requests: must have at most ${maxItems} items`, 'requests')
  }
  return requests.map((one, at) => readItem(one, { path: `requests.${at}.`, model }))
}

/** Collects the items with equal settings, since one call has one setting for all of its items. */
function toSets(items: readonly ReadItem[], model: string): Pick<EmbedDoorCall, 'sets' | 'places'> {
  const places = new Map<string, number[]>()
  for (const [at, { inputType, dimensions }] of items.entries()) {
    const key = `${inputType?.value}/${dimensions?.value}`
    const known = places.get(key)
    if (known) known.push(at)
    else places.set(key, [at])
  }
  const sets = [...places.values()].map((given) =>
    toCall(
      given.flatMap((at) => items[at] ?? []),
      model,
    ),
  )
  return places.size === 1 ? { sets } : { sets, places: [...places.values()].flat() }
}

function toCall(items: readonly ReadItem[], model: string): EmbedCall {
  const given = items.map(({ item }) => item)
  const isText = given.every((item) => typeof item === 'string')
  return {
    model,
    input: isText ? { shape: 'strings', items: given } : { shape: 'parts', items: given },
    encoding: 'float',
    dimensions: items[0]?.dimensions?.value,
    inputType: items[0]?.inputType?.value,
    needsMapping: true,
  }
}

/** Lists what a link drops. Throws for an item that the API of no other vendor has. */
function listDropped(items: readonly ReadItem[], link: Model): readonly string[] {
  const problem = items.find((item) => item.problem)?.problem
  if (problem) throw new UntranslatableError(problem.message, problem.path)
  const { takesInputType, supportsDimensions } = getEndpoint(link)
  const mapsTypes = takesInputType !== undefined && link.provider.mapsInputType
  return items.flatMap(({ inputType, dimensions, title }) => [
    ...(inputType && !(mapsTypes && inputType.value) ? [inputType.path] : []),
    ...(title ? [title] : []),
    ...(dimensions && !supportsDimensions ? [dimensions.path] : []),
  ])
}

const oneVector: VectorWriting = {
  before: () => '{"embedding":{"values":[',
  after: ']}',
  end: ({ usage }) => `,${renderCounts(usage)}}`,
}

const listOfVectors: VectorWriting = {
  before: (index) => `${index === 0 ? '{"embeddings":[' : ','}{"values":[`,
  after: ']}',
  end: ({ usage }) => `],${renderCounts(usage)}}`,
}

/** Google counts the prompts of newer models only. */
function renderCounts({ promptTokens, estimated }: Usage): string {
  const counts = { promptTokenCount: promptTokens, ...(estimated && { estimated: true }) }
  return `"usageMetadata":${JSON.stringify(counts)}`
}
