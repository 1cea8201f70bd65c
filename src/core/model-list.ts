import type { Capability } from './capability.ts'
import type { UnixSeconds } from './ids.ts'
import type { Environment } from './ports.ts'

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

/** How the gateway reads the list of models of a kind's vendor. */
export interface ModelLister {
  /** Builds the request for a page, to which the credential is added. The first page has no token. */
  buildRequest(place: ListPlace, token: string | undefined): ListRequest
  /** Reads a page; undefined for an answer that is no list. */
  readPage(body: unknown): ListPage | undefined
}

/** What the address of a list depends on. */
export interface ListPlace {
  readonly baseUrl: string
  /** That of the credential with which it is read; undefined where this has none. */
  readonly secret: string | undefined
  readonly env: Environment
}

export interface ListRequest {
  readonly url: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
}

export interface ListPage {
  readonly models: readonly NamedFacts[]
  /** The token of the next page; absent on the last one. */
  readonly next?: string | undefined
}

export interface NamedFacts extends Omit<ListedFacts, 'since'> {
  readonly name: string
  /** Other names by which the vendor serves the model, which its list does not have. */
  readonly aliases?: readonly string[] | undefined
}

/** What is known of the list of a provider, for operators. */
export interface ModelListReport {
  readonly provider: string
  /** The number of models in the last list; undefined without one. */
  readonly models: number | undefined
  readonly listedAt: UnixSeconds | undefined
  /** Why the last attempt to read the list failed, as a predicate of the provider; undefined when it did not. */
  readonly failure: string | undefined
}
