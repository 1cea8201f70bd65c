import { type ApiCondition, type ApiFamily, mapApiFamilies } from './conditions.ts'

/**
 * How an API handles a feature of a request.
 *
 * - `carried`: sent with the same name and value.
 * - `mapped`: sent in the vendor's own form.
 * - `dropped`: left out or weakened; a strict provider refuses the request.
 * - `ignored`: left out, strict or not, because the answer does not depend on it.
 * - `refused`: the API cannot express the request.
 */
export type Verdict = 'carried' | 'mapped' | 'dropped' | 'ignored' | 'refused'

/** A verdict with its details. */
export interface TranslationOutcome {
  readonly verdict: Verdict
  /** The dotted path in the vendor's body; undefined when the feature is not a member of the body. */
  readonly to?: string | undefined
  /** The name of the header that carries the feature in place of the body. */
  readonly header?: string | undefined
  /** A note for the documentation; that of a refusal is also part of the error message. */
  readonly remark?: string | undefined
  /** The nearest supported value is sent instead, so the field stays in the request. */
  readonly isWeakened?: boolean
  /** The error code of a refusal when it is not LM-1001: images are checked for the whole chain. */
  readonly code?: 'LM-2004' | 'LM-2008'
}

/** The usual outcome, and the outcomes under conditions; the first condition that holds counts. */
export interface TranslationCell<Condition extends string = string> extends TranslationOutcome {
  readonly unless?: { readonly [Held in Condition]?: TranslationOutcome }
}

export function carried(to: string, remark?: string): TranslationOutcome {
  return { verdict: 'carried', to, remark }
}

export function mapped(to: string | undefined, remark?: string): TranslationOutcome {
  return { verdict: 'mapped', to, remark }
}

export function mappedToHeader(header: string): TranslationOutcome {
  return { verdict: 'mapped', header, remark: `the header \`${header}\`` }
}

export function weakened(remark: string): TranslationOutcome {
  return { verdict: 'dropped', remark, isWeakened: true }
}

export const dropped: TranslationOutcome = { verdict: 'dropped' }
export const ignored: TranslationOutcome = { verdict: 'ignored' }
export const refused: TranslationOutcome = { verdict: 'refused' }

/** Refused, with a remark that lists what is supported. */
export function refusedAllBut(taken: string): TranslationOutcome {
  return { verdict: 'refused', remark: `only ${taken}` }
}

/** Remote addresses, which the data plane refuses before it translates the request. */
export const refusedAddress: TranslationOutcome = { verdict: 'refused', code: 'LM-2004' }
/** Files of another vendor, which the data plane refuses as well. */
export const refusedReference: TranslationOutcome = { verdict: 'refused', code: 'LM-2008' }

export function except<Condition extends string>(
  usual: TranslationOutcome,
  unless: { readonly [Held in Condition]?: TranslationOutcome },
): TranslationCell<Condition> {
  return { ...usual, unless }
}

/** Lists the outcomes of a cell. */
export function listOutcomes({
  unless = {},
  ...usual
}: TranslationCell): readonly TranslationOutcome[] {
  return [usual, ...Object.values(unless).filter((outcome) => outcome !== undefined)]
}

/** Selects the outcome for a link with these conditions. */
export function selectOutcome(
  cell: TranslationCell,
  holds: Readonly<Record<string, boolean>>,
): TranslationOutcome {
  for (const condition in cell.unless) {
    if (holds[condition]) return cell.unless[condition] ?? cell
  }
  return cell
}

/** How each API handles one feature. */
export type TranslationRow = { readonly [Api in ApiFamily]: TranslationCell<ApiCondition<Api>> }

/** Rows by feature, named as the documentation and the error messages name it. */
export type TranslationRows = Readonly<Record<string, TranslationRow>>

/** Uses the same cell for every API. */
export function inEveryApi(cell: TranslationCell<never>): TranslationRow {
  return mapApiFamilies(() => cell)
}
