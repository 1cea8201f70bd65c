/** How the answer to a call is sent: whole, as server-sent events, or as the items of one JSON array. */
export type AnswerShape = 'whole' | 'events' | 'array'

/** What the address of a request says. */
export interface GeminiAddress {
  /** The id of the model, decoded once. */
  readonly model: string
  readonly method: string
  readonly shape: AnswerShape
}

/**
 * Reads the address of a call. Ids stand in it as they are, with slashes and colons, so the model is all between
 * the first `/models/` and the last colon; that of a tuned model begins with `tunedModels/`. Clients that do not ask for `alt=sse` read a stream as a JSON array.
 */
export function readAddress(url: string): GeminiAddress {
  // Parsing it takes longer than reading the rest of a short request.
  const pathStart = url.indexOf('/', url.indexOf('//') + 2)
  const [path = '', query = ''] = url.slice(pathStart).split(/[?#]/, 2)
  const [, id = '', method = ''] =
    /\/(?:models\/|(?=tunedModels\/))(.+):([A-Za-z]+)$/.exec(path) ?? []
  const isStream = method === 'streamGenerateContent'
  return {
    model: decodeOnce(id),
    method,
    shape: isStream ? (asksEvents(query) ? 'events' : 'array') : 'whole',
  }
}

function asksEvents(query: string): boolean {
  if (query === 'alt=sse') return true
  const asked = new URLSearchParams(query)
  return asked.get('alt') === 'sse' || asked.get('$alt') === 'sse'
}

function decodeOnce(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

/** Where Google's clients look for models: each version of the Gemini API, and the places of Vertex AI. */
const models =
  '/v1(beta|beta1|alpha|)(/projects/[^/]+/locations/[^/]+)?(/publishers/[^/]+)?/(models|tunedModels)/:id+'

/** Returns the path of a method, with every version and place that clients use. */
export function methodPath(method: string): string {
  return `${models}[:]${method}`
}

const served =
  ':generateContent, :streamGenerateContent, :countTokens, :embedContent and :batchEmbedContents of models'

/** Why another part of the API is 404. */
export const notServed = `no such route; of the Gemini API the gateway serves ${served}, and the lists of models`

/** The parts of the API that keep state at Google, other methods of models, and its form of the OpenAI API. */
export const absentPaths: Readonly<Record<string, string>> = {
  '/v1(beta|beta1|alpha)/(interactions|cachedContents|files|batches|fileSearchStores|operations)':
    notServed,
  '/v1(beta|beta1|alpha)/(interactions|cachedContents|files|batches|fileSearchStores|operations)/:rest+':
    notServed,
  '/v1(beta|beta1|alpha|)/(projects|publishers|tunedModels)/:rest+': notServed,
  '/upload/:rest+': notServed,
  '/ws/:rest+': notServed,
  '/v1(beta|beta1|alpha)/openai/:rest+':
    'no such route; the base URL for clients of the OpenAI API ends with /v1',
}

/** The paths of the lists of models, without `/v1/models`, which other APIs have too. */
export const listPaths: readonly string[] = ['/v1(beta|beta1|alpha)(/publishers/[^/]+)?/models']
