import type { Capability } from './capability.ts'
import type { UnixSeconds } from './ids.ts'

/** What is known of a model that a vendor lists. */
export interface ListedFacts {
  /** When the gateway first saw it in the list. */
  readonly since: UnixSeconds
  /** What the vendor says that it serves; absent where the list does not say it. */
  readonly capabilities?: readonly Capability[] | undefined
}

/** The models that a vendor listed at one time. */
export interface ListedModels {
  /** By the vendor's names, in its order. */
  readonly models: ReadonlyMap<string, ListedFacts>
  /** Finds a model by its name, or by another name that the vendor has for it. */
  find(name: string): ListedFacts | undefined
}

/** The list of models of a provider's vendor, which is kept up to date in the background. */
export interface ModelList {
  /** The last list; undefined until the vendor has sent one. Each list is another object. */
  readonly current: ListedModels | undefined
}
