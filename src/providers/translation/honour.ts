import { UntranslatableError } from '../../core/cannot-express.ts'
import type { OpenAiRequest } from '../canonical/request.ts'
import { outcomeFor } from './cell.ts'
import { fieldUses } from './field-uses.ts'
import { messageUses } from './message-uses.ts'
import type { Family, Row } from './row.ts'
import { type Feature, losses, table } from './table.ts'
import { toolUses } from './tool-uses.ts'
import type { Strip, Use } from './use.ts'

/** A request without what an API cannot carry. */
export interface Honoured {
  readonly request: OpenAiRequest
  /** The paths of what was left out or weakened, which a strict provider refuses. */
  readonly dropped: string[]
}

/** The conditions of a family's cells. */
type HoldsFor<Named extends Family> = Row[Named] extends { readonly unless?: infer Unless }
  ? Readonly<Record<keyof NonNullable<Unless>, boolean>>
  : never

/**
 * Goes by the table: leaves out of a request what its link drops or ignores, so that a translation
 * meets only what it can send. Throws `UntranslatableError` for what the link refuses.
 */
export function honour<Named extends Family>(
  request: OpenAiRequest,
  family: Named,
  holds: HoldsFor<Named>,
): Honoured {
  const dropped: string[] = []
  const lost = new Set<string>()
  const strips = new Set<Strip>()
  for (const { feature, path, strip } of usesOf(request, losses[family])) {
    const { verdict, remark, isWeakened } = outcomeFor(table[feature][family], holds)
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

function usesOf(request: OpenAiRequest, lossy: ReadonlySet<Feature>): Use[] {
  return [
    ...fieldUses(request),
    ...request.leftOut,
    ...toolUses(request),
    ...messageUses(request.messages, (feature) => lossy.has(feature)),
  ]
}
