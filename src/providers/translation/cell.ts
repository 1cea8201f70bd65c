import type { AnthropicCondition, BedrockCondition, GeminiCondition } from './conditions.ts'
/**
 * What becomes of something that a client asks for.
 *
 * - `carried`: it is sent with the same name and value.
 * - `mapped`: it is sent in the vendor's own form.
 * - `dropped`: it is left out or weakened, and a strict provider refuses it.
 * - `ignored`: it is left out, also by a strict provider, since the answer is as good without it.
 * - `refused`: a request with it has no form in this API.
 */
export type Verdict = 'carried' | 'mapped' | 'dropped' | 'ignored' | 'refused'

/** A verdict, and what is worth saying of it. */
export interface TranslationOutcome {
  readonly verdict: Verdict
  /** Where it stands in the vendor's body, as a dotted path; undefined where it is no member of one. */
  readonly to?: string | undefined
  /** For the documentation. */
  readonly remark?: string | undefined
  /** The nearest thing that the vendor takes is sent in its place, so the wish itself is kept. */
  readonly isWeakened?: boolean
  /** The code of the refusal, where it is not LM-1001: images are judged over the whole chain. */
  readonly code?: 'LM-2004' | 'LM-2008'
}

/** The usual outcome, and those of links for which a condition holds: the first that does counts. */
export interface TranslationCell<Condition extends string = string> extends TranslationOutcome {
  readonly unless?: { readonly [Held in Condition]?: TranslationOutcome }
}

export function carried(to: string, remark?: string): TranslationOutcome {
  return { verdict: 'carried', to, remark }
}

export function mapped(to: string | undefined, remark?: string): TranslationOutcome {
  return { verdict: 'mapped', to, remark }
}

export function weakened(remark: string): TranslationOutcome {
  return { verdict: 'dropped', remark, isWeakened: true }
}

export const dropped: TranslationOutcome = { verdict: 'dropped' }
export const ignored: TranslationOutcome = { verdict: 'ignored' }
export const refused: TranslationOutcome = { verdict: 'refused' }

/** For a refusal that says what is taken instead. */
export function refusedAllBut(taken: string): TranslationOutcome {
  return { verdict: 'refused', remark: `only ${taken}` }
}

/** Remote addresses, which the plane refuses before any link is asked. */
export const refusedAddress: TranslationOutcome = { verdict: 'refused', code: 'LM-2004' }
/** Files of another vendor, likewise. */
export const refusedReference: TranslationOutcome = { verdict: 'refused', code: 'LM-2008' }

export function except<Condition extends string>(
  usual: TranslationOutcome,
  unless: { readonly [Held in Condition]?: TranslationOutcome },
): TranslationCell<Condition> {
  return { ...usual, unless }
}

/** Every outcome that a cell may have. */
export function listOutcomes({
  unless = {},
  ...usual
}: TranslationCell): readonly TranslationOutcome[] {
  return [usual, ...Object.values(unless).filter((outcome) => outcome !== undefined)]
}

/** The outcome for a link of which these conditions hold. */
export function selectOutcome(
  cell: TranslationCell,
  holds: Readonly<Record<string, boolean>>,
): TranslationOutcome {
  for (const condition in cell.unless) {
    if (holds[condition]) return cell.unless[condition] ?? cell
  }
  return cell
}

/** What becomes of one thing in each API that requests are translated for. */
export interface TranslationRow {
  readonly anthropic: TranslationCell<AnthropicCondition>
  /** The kinds `google` and `vertex_ai`. */
  readonly gemini: TranslationCell<GeminiCondition>
  readonly bedrock: TranslationCell<BedrockCondition>
  readonly cohere: TranslationCell<never>
}

export type ApiFamily = keyof TranslationRow

/** Rows by what a client may ask for, in the words of the documentation and of errors. */
export type TranslationRows = Readonly<Record<string, TranslationRow>>

/** The same in every API. */
export function inEveryApi(cell: TranslationCell<never>): TranslationRow {
  return { anthropic: cell, gemini: cell, bedrock: cell, cohere: cell }
}
