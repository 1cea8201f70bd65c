/** Capabilities of a Gemini model, derived from its name. */
export interface GeminiModel {
  /** The last segment of the upstream id, in lower case. */
  readonly name: string
  /** Comparable: 205 is 2.5. Infinite for an alias of the latest model. */
  readonly generation: number
  /** False for Gemma models, which refuse `systemInstruction`. */
  readonly takesSystemInstruction: boolean
  /** Function calls and their results carry ids; older models refuse the field. */
  readonly takesCallIds: boolean
  /** The first call of a model turn must carry a thought signature. */
  readonly needsSignatures: boolean
  /** Tool results may contain images, documents and file references. */
  readonly takesMediaInToolResults: boolean
  /**
   * The model accepts `parametersJsonSchema` and `responseJsonSchema` besides the OpenAPI forms.
   */
  readonly takesJsonSchema: boolean
  /** A request may have both JSON output and tools. */
  readonly takesFormatWithTools: boolean
  /** Functions and Google's own tools may be in one request. */
  readonly combinesTools: boolean
  readonly takesCandidateCount: boolean
  /**
   * Newer models ignore temperature, top_p and top_k; Google announced that later ones refuse them.
   */
  readonly takesSampling: boolean
  /** Newer models refuse penalties on the Gemini API, but not on Vertex AI. */
  readonly takesPenalties: boolean
}

/**
 * Returns the capabilities of a model by its upstream name. Unknown names count as generation 2.0.
 * Changes of generation 3: https://ai.google.dev/gemini-api/docs/gemini-3
 * Fields of a request: https://ai.google.dev/api/generate-content
 */
export function geminiModel(upstreamId: string): GeminiModel {
  const name = upstreamId.toLowerCase().split('/').at(-1) ?? ''
  const generation = parseGeneration(name)
  const isFrom = (major: number, minor = 0) => generation >= toGeneration(major, minor)
  return Object.freeze({
    name,
    generation,
    takesSystemInstruction: !name.includes('gemma'),
    takesCallIds: isFrom(3),
    needsSignatures: isFrom(3),
    takesMediaInToolResults: isFrom(3),
    takesJsonSchema: isFrom(2, 5),
    takesFormatWithTools: isFrom(3),
    combinesTools: isFrom(3),
    takesCandidateCount: !isFrom(3),
    takesSampling: !isFrom(3, 6) && !name.includes('3.5-flash-lite'),
    takesPenalties: !isFrom(2, 5),
  })
}

function parseGeneration(name: string): number {
  const [, major, minor = '0'] = /gemini-(\d+)(?:\.(\d+))?/.exec(name) ?? []
  if (major !== undefined) return toGeneration(Number(major), Number(minor))
  if (name === 'gemini-pro' || name === 'gemini-pro-vision') return toGeneration(1)
  if (name.startsWith('gemini-robotics-er-')) return toGeneration(2, 5)
  return name.startsWith('gemini-') ? Number.POSITIVE_INFINITY : toGeneration(2)
}

/** Makes a generation comparable. The minor version is a number: 3.10 follows 3.9. */
export function toGeneration(major: number, minor = 0): number {
  return major * 100 + minor
}
