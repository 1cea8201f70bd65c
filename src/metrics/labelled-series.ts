import type { Labels } from '../core/metrics.ts'

/** The labels of a metric by their names. */
export type LabelsOf<Name extends string> = Readonly<Record<Name, string | number>>

/**
 * The series of one metric, each with its values. It looks a series up in nested maps, one for each label:
 * every request does so several times, and to join the labels into one key takes several times as long.
 */
export class LabelledSeries<Name extends string, Values> {
  readonly #names: readonly Name[]
  readonly #create: () => Values
  readonly #list: (readonly [Labels, Values])[] = []
  /** Maps of maps by the values of the labels, and last of those of the series. */
  #root: unknown

  /** `create` makes the values of a new series. A metric without labels has its only series at once. */
  constructor(names: readonly Name[], create: () => Values) {
    this.#names = names
    this.#create = create
    if (names.length === 0) this.#root = this.#add({})
  }

  /** Returns the values of a series, which begins with the first call. */
  find(labels: LabelsOf<Name>): Values {
    let found = this.#root
    for (const name of this.#names) {
      if (found === undefined) break
      found = (found as Level).get(labels[name])
    }
    // Below the last map are the values.
    return found === undefined ? this.#insert(labels) : (found as Values)
  }

  /** Lists all series. */
  list(): readonly (readonly [Labels, Values])[] {
    return this.#list
  }

  #insert(labels: LabelsOf<Name>): Values {
    const values = this.#add(Object.fromEntries(this.#names.map((name) => [name, labels[name]])))
    this.#root = insertAt(this.#root, { path: this.#names.map((name) => labels[name]), values })
    return values
  }

  #add(labels: Labels): Values {
    const values = this.#create()
    this.#list.push([labels, values])
    return values
  }
}

type Level = Map<string | number, unknown>

interface Insertion {
  readonly path: readonly (string | number)[]
  readonly values: unknown
}

/** Returns the level with the values below it. */
function insertAt(level: unknown, { path, values }: Insertion): unknown {
  const [key, ...below] = path
  if (key === undefined) return values
  const map = (level as Level | undefined) ?? new Map()
  return map.set(key, insertAt(map.get(key), { path: below, values }))
}
