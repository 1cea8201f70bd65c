/** How the answer to a call is sent: whole, as server-sent events, or as the items of one JSON array. */
export type AnswerShape = 'whole' | 'events' | 'array'

/** What the address of a request says. */
export interface GeminiAddress {
  /** The id of the model, decoded once. */
  readonly model: string
  readonly shape: AnswerShape
}

/**
 * Reads the address of a call. Ids stand in it as they are, with slashes and colons, so the model is all between
 * the first `/models/` and the last colon. Clients that do not ask for `alt=sse` read a stream as a JSON array.
 */
export function readAddress(url: string): GeminiAddress {
  const { pathname, searchParams } = new URL(url)
  const [, id = '', method] = /\/models\/(.+):([A-Za-z]+)$/.exec(pathname) ?? []
  const isStream = method === 'streamGenerateContent'
  const isEvents = searchParams.get('alt') === 'sse' || searchParams.get('$alt') === 'sse'
  return { model: decodeOnce(id), shape: isStream ? (isEvents ? 'events' : 'array') : 'whole' }
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
  '/v1(beta|beta1|alpha|)(/projects/[^/]+/locations/[^/]+)?(/publishers/[^/]+)?/models/:id+'

/** Returns the path of a method, with every version and place that clients use. */
export function methodPath(method: string): string {
  return `${models}[:]${method}`
}

/** The paths of the lists of models, without `/v1/models`, which other APIs have too. */
export const listPaths: readonly string[] = ['/v1(beta|beta1|alpha)(/publishers/[^/]+)?/models']
