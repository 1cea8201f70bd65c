import type { CanonicalRequest } from '../canonical/request.ts'
import type { Feature } from './table.ts'

/** A place where a request asks for something. */
export interface FeatureUse {
  readonly feature: Feature
  /** The dotted path, for error messages. */
  readonly path: string
  /** Takes it out of a request; absent where no translation reads it. */
  readonly strip?: StripFeature | undefined
}

/** The members of a request as they are without what stands at these paths. */
export type StripFeature = (
  request: CanonicalRequest,
  lost: ReadonlySet<string>,
) => Partial<CanonicalRequest>

type Clearable = Pick<
  CanonicalRequest,
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'frequencyPenalty'
  | 'presencePenalty'
  | 'seed'
  | 'stop'
  | 'n'
  | 'logprobs'
  | 'topLogprobs'
  | 'reasoningEffort'
  | 'serviceTier'
  | 'responseFormat'
  | 'toolChoice'
  | 'parallelToolCalls'
>

const clearedFields: Clearable = {
  temperature: undefined,
  topP: undefined,
  topK: undefined,
  frequencyPenalty: undefined,
  presencePenalty: undefined,
  seed: undefined,
  stop: [],
  n: undefined,
  logprobs: undefined,
  topLogprobs: undefined,
  reasoningEffort: undefined,
  serviceTier: undefined,
  responseFormat: { kind: 'text' },
  toolChoice: undefined,
  parallelToolCalls: undefined,
}

/** Strips one member: it reads as absent. */
export function clearField(member: keyof Clearable): StripFeature {
  const stripped = { [member]: clearedFields[member] }
  return () => stripped
}

/** The names of functions that every vendor takes. */
export function isPlainName(name: string): boolean {
  return /^[a-zA-Z0-9_-]{1,64}$/.test(name)
}
