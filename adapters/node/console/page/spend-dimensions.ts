/** What the spend is divided by, and narrowed to. */
export const dimensions = ['group', 'key', 'model', 'provider'] as const

export type Dimension = (typeof dimensions)[number]

/** The values that the spend is narrowed to. */
export type Narrowing = Readonly<Partial<Record<Dimension, string>>>

/** What the dimensions are called. */
export const titles = { group: 'Group', key: 'Key', model: 'Model', provider: 'Provider' } as const

/** What comes below each dimension, the most useful first. */
const below: Readonly<Record<Dimension, readonly Dimension[]>> = {
  group: ['key', 'model', 'provider'],
  key: ['model', 'provider'],
  model: ['key', 'provider', 'group'],
  provider: ['model', 'key', 'group'],
}

/** Returns what a row of a table is divided by when it is opened; undefined when there is nothing below it. */
export function findBelow(by: Dimension, narrowing: Narrowing): Dimension | undefined {
  return below[by].find((dimension) => narrowing[dimension] === undefined)
}
