import type { PriceSettings } from './settings.ts'

/** A model of a catalogue. */
export interface PricedModel {
  readonly settings: PriceSettings
  /** Factors by a part of the vendor's address, as `Sheet` has them. */
  readonly places: Readonly<Record<string, number>>
}

/** A list of prices. */
export interface Catalogue {
  /** What it is, for messages: `price table of 2026-11-28`. */
  readonly name: string
  /** Finds the prices of a model by the kind of its provider and the vendor's id. */
  find(kind: string, id: string): PricedModel | undefined
}

/** Lists the ids by which a catalogue may know a model: a version with a date is listed by that, or without it. */
export function listSpellings(kind: string, id: string): readonly string[] {
  const text = id.toLowerCase()
  const name =
    kind === 'vertex_ai' ? text.replace(/^(?:publishers\/)?[^/]+\/(?:models\/)?/, '') : text
  const all = [text, name, name.replace(/[-@]20\d\d-?[01]\d-?[0-3]\d(?=$|:)/, '')]
  return [...new Set(all)]
}
