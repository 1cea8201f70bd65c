import type { CanonicalRequest } from '../canonical/request.ts'
import type { Feature } from './table.ts'

/** A place where a request uses a feature. */
export interface FeatureUse {
  readonly feature: Feature
  /** The dotted path, for error messages. */
  readonly path: string
  /** Removes it from a request; absent when no translation reads it. */
  readonly strip?: StripFeature | undefined
}

/** Returns the members of a request without the values at these paths. */
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
  | 'serviceTier'
  | 'responseFormat'
  | 'toolChoice'
  | 'parallelToolCalls'
  | 'webSearch'
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
  serviceTier: undefined,
  responseFormat: { kind: 'text' },
  toolChoice: undefined,
  parallelToolCalls: undefined,
  webSearch: undefined,
}

/** Returns a strip function that sets one member to its absent value. */
export function clearField(member: keyof Clearable): StripFeature {
  const stripped = { [member]: clearedFields[member] }
  return () => stripped
}

/** True for a function name that every vendor accepts. */
export function isPlainName(name: string): boolean {
  return /^[a-zA-Z0-9_-]{1,64}$/.test(name)
}
