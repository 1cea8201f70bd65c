/** What one Gemini model takes and how it wants to be asked, as far as its name tells. */
export interface GeminiModel {
  /** The last segment of the upstream id, in lower case. */
  readonly name: string
  /** Comparable: 205 is 2.5. Infinite for an alias of the newest. */
  readonly generation: number
  /** The Gemma models refuse `systemInstruction`. */
  readonly takesSystemInstruction: boolean
  /** Ids of function calls travel both ways; older models refuse the field. */
  readonly takesCallIds: boolean
  /** The first call of a model turn must carry a thought signature. */
  readonly needsSignatures: boolean
  /** Images, documents and references to files may stand in the result of a tool. */
  readonly takesMediaInToolResults: boolean
  /** `parametersJsonSchema` and `responseJsonSchema` exist beside the OpenAPI forms. */
  readonly takesJsonSchema: boolean
  /** JSON output may be asked for together with tools. */
  readonly takesFormatWithTools: boolean
  readonly takesCandidateCount: boolean
  /** Newer models ignore temperature, top_p and top_k, and are announced to refuse them. */
  readonly takesSampling: boolean
  /** Penalties are refused by newer models on the Gemini API, though not on Vertex AI. */
  readonly takesPenalties: boolean
}

/** Judges a model by the name it has upstream. Unknown names are handled as generation 2.0. */
export function geminiModel(upstreamId: string): GeminiModel {
  const name = upstreamId.toLowerCase().split('/').at(-1) ?? ''
  const own = parseGeneration(name)
  const isFrom = (major: number, minor = 0) => own >= generation(major, minor)
  return Object.freeze({
    name,
    generation: own,
    takesSystemInstruction: !name.includes('gemma'),
    takesCallIds: isFrom(3),
    needsSignatures: isFrom(3),
    takesMediaInToolResults: isFrom(3),
    takesJsonSchema: isFrom(2, 5),
    takesFormatWithTools: isFrom(3),
    takesCandidateCount: !isFrom(3),
    takesSampling: !isFrom(3, 6) && !name.includes('3.5-flash-lite'),
    takesPenalties: !isFrom(2, 5),
  })
}

function parseGeneration(name: string): number {
  const [, major, minor = '0'] = /gemini-(\d+)(?:\.(\d+))?/.exec(name) ?? []
  if (major !== undefined) return generation(Number(major), Number(minor))
  if (name === 'gemini-pro' || name === 'gemini-pro-vision') return generation(1)
  if (name.startsWith('gemini-robotics-er-')) return generation(2, 5)
  return name.startsWith('gemini-') ? Number.POSITIVE_INFINITY : generation(2)
}

/** A generation as it is compared. Digits after the point are a number of their own: 3.10 comes after 3.9. */
export function generation(major: number, minor = 0): number {
  return major * 100 + minor
}
