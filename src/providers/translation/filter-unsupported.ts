import type { Steps } from '../../core/steps.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { selectOutcome } from './cell.ts'
import type { ApiFamily, ConditionFlags } from './conditions.ts'
import type { FeatureUse, StripFeature } from './feature-use.ts'
import { findFieldUses } from './field-uses.ts'
import { findMessageUses } from './message-uses.ts'
import { type Feature, lossyFeatures, translationTable } from './table.ts'
import { findToolUses } from './tool-uses.ts'

/** A request without the features that an API does not support. */
export interface FilteredRequest {
  readonly request: CanonicalRequest
  /** The paths of fields that were left out or weakened, which a strict provider refuses. */
  readonly dropped: string[]
}

/**
 * Removes from a request the features that the table drops or ignores for its link, so that the
 * translation meets only features that it can send. Throws `UntranslatableError` for a refused feature.
 */
export function* filterUnsupported<Named extends ApiFamily>(
  request: CanonicalRequest,
  api: Named,
  holds: ConditionFlags<Named>,
): Steps<FilteredRequest> {
  const dropped: string[] = []
  const lost = new Set<string>()
  const strips = new Set<StripFeature>()
  for (const { feature, path, strip } of yield* findUses(request, lossyFeatures[api])) {
    const { verdict, remark, isWeakened } = selectOutcome(translationTable[feature][api], holds)
    if (verdict === 'refused') {
      const rule = `the ${api} API does not support ${feature}`
      throw new UntranslatableError(`${path}: ${rule}${remark ? `, ${remark}` : ''}`, path)
    }
    if (verdict === 'dropped') dropped.push(path)
    if (strip && (verdict === 'dropped' || verdict === 'ignored') && !isWeakened) {
      strips.add(strip)
      lost.add(path)
    }
  }
  let kept = request
  for (const strip of strips) kept = { ...kept, ...strip(kept, lost) }
  return { request: kept, dropped }
}

function* findUses(
  request: CanonicalRequest,
  lossy: ReadonlySet<Feature>,
): Steps<readonly FeatureUse[]> {
  const ofTools = findToolUses(request)
  yield
  return [
    ...findFieldUses(request),
    ...request.leftOut,
    ...ofTools,
    ...(yield* findMessageUses(request.messages, (feature) => lossy.has(feature))),
  ]
}
