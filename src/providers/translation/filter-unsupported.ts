import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type ApiFamily, selectOutcome, type TranslationRow } from './cell.ts'
import type { FeatureUse, StripFeature } from './feature-use.ts'
import { findFieldUses } from './field-uses.ts'
import { findMessageUses } from './message-uses.ts'
import { type Feature, lossyFeatures, table } from './table.ts'
import { findToolUses } from './tool-uses.ts'

/** A request without what an API cannot carry. */
export interface FilteredRequest {
  readonly request: CanonicalRequest
  /** The paths of what was left out or weakened, which a strict provider refuses. */
  readonly dropped: string[]
}

/** The conditions of a family's cells. */
type FlagsFor<Named extends ApiFamily> = TranslationRow[Named] extends {
  readonly unless?: infer Unless
}
  ? Readonly<Record<keyof NonNullable<Unless>, boolean>>
  : never

/**
 * Goes by the table: leaves out of a request what its link drops or ignores, so that a translation
 * meets only what it can send. Throws `UntranslatableError` for what the link refuses.
 */
export function filterUnsupported<Named extends ApiFamily>(
  request: CanonicalRequest,
  family: Named,
  holds: FlagsFor<Named>,
): FilteredRequest {
  const dropped: string[] = []
  const lost = new Set<string>()
  const strips = new Set<StripFeature>()
  for (const { feature, path, strip } of findUses(request, lossyFeatures[family])) {
    const { verdict, remark, isWeakened } = selectOutcome(table[feature][family], holds)
    if (verdict === 'refused') {
      const rule = `the ${family} API takes no ${feature}`
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

function findUses(request: CanonicalRequest, lossy: ReadonlySet<Feature>): FeatureUse[] {
  return [
    ...findFieldUses(request),
    ...request.leftOut,
    ...findToolUses(request),
    ...findMessageUses(request.messages, (feature) => lossy.has(feature)),
  ]
}
