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
  readonly takesImagesInToolResults: boolean
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
  const generation = generationOf(name)
  const isFrom = (major: number, minor = 0) => generation >= number(major, minor)
  return Object.freeze({
    name,
    generation,
    takesSystemInstruction: !name.includes('gemma'),
    takesCallIds: isFrom(3),
    needsSignatures: isFrom(3),
    takesImagesInToolResults: isFrom(3),
    takesJsonSchema: isFrom(2, 5),
    takesFormatWithTools: isFrom(3),
    takesCandidateCount: !isFrom(3),
    takesSampling: !isFrom(3, 6) && !name.includes('3.5-flash-lite'),
    takesPenalties: !isFrom(2, 5),
  })
}

function generationOf(name: string): number {
  const [, major, minor = '0'] = /gemini-(\d+)(?:\.(\d+))?/.exec(name) ?? []
  if (major !== undefined) return number(Number(major), Number(minor))
  if (name === 'gemini-pro' || name === 'gemini-pro-vision') return number(1, 0)
  if (name.startsWith('gemini-robotics-er-')) return number(2, 5)
  return name.startsWith('gemini-') ? Number.POSITIVE_INFINITY : number(2, 0)
}

/** Digits after the point are a number of their own: 3.10 comes after 3.9. */
function number(major: number, minor: number): number {
  return major * 100 + minor
}

export type ThinkingConfig =
  | { readonly thinkingBudget: number }
  | { readonly thinkingLevel: string }

/** What `reasoning_effort` asks of this model; undefined when it cannot be asked for. */
export function thinkingFor(model: GeminiModel, effort: string): ThinkingConfig | undefined {
  // Image models take other sets of levels, which are nowhere listed.
  if (model.name.includes('-image')) return undefined
  const budget = budgets.get(effort)
  if (budget === undefined || model.generation < number(2, 5)) return undefined
  if (model.generation >= number(3, 0)) return { thinkingLevel: levelOf(model, effort) }
  // 2.5 Pro cannot do without thinking; 128 is its least.
  const isPro = model.name.includes('2.5-pro')
  return { thinkingBudget: isPro ? Math.max(128, budget) : budget }
}

/** The budgets of Google's own OpenAI-compatible API. */
const budgets: ReadonlyMap<string, number> = new Map([
  ['none', 0],
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24576],
  ['xhigh', 24576],
  ['max', 24576],
])

function levelOf({ name, generation }: GeminiModel, effort: string): string {
  switch (effort) {
    case 'none':
    case 'minimal': {
      const isSmall = name.includes('flash-lite')
      const isOldFlash = name.includes('flash') && generation <= number(3, 6)
      // Pro models and the Flash models from 3.7 on answer 400 to MINIMAL.
      return isSmall || isOldFlash ? 'MINIMAL' : 'LOW'
    }
    case 'low':
      return 'LOW'
    case 'medium':
      // 3 Pro knows LOW and HIGH only.
      return name.startsWith('gemini-3-pro') ? 'HIGH' : 'MEDIUM'
    default:
      return 'HIGH'
  }
}
