import type { Config } from '../config/index.ts'
import { buildSnapshot, type SnapshotPorts } from './build.ts'
import type { Built } from './reuse.ts'
import type { Snapshot } from './snapshot.ts'

export interface Sources {
  readonly config: Config
  /** The keys of providers that were stored at run time, by the provider's name. */
  readonly storedKeys: ReadonlyMap<string, string>
  /** The text of every `ca_file`, by the provider's name. */
  readonly authorities?: ReadonlyMap<string, string> | undefined
}

/** The configuration that serves, and its snapshot. Who needs either asks anew for each request. */
export class SnapshotHolder {
  readonly #ports: SnapshotPorts
  #built: Built

  constructor(sources: Sources, ports: SnapshotPorts) {
    this.#ports = ports
    this.#built = build(sources, ports)
  }

  get config(): Config {
    return this.#built.config
  }

  get snapshot(): Snapshot {
    return this.#built.snapshot
  }

  /**
   * Builds a successor; the function that is returned puts it in the place of what serves. What the
   * file says the same of as before is carried over, so that tokens at hand stay in use.
   */
  prepare(sources: Sources): () => void {
    const successor = build(sources, { ...this.#ports, previous: this.#built })
    return () => {
      this.#built = successor
    }
  }
}

function build(
  { config, ...sources }: Sources,
  ports: SnapshotPorts & { readonly previous?: Built },
): Built {
  return { config, snapshot: buildSnapshot(config, { ...ports, ...sources }) }
}
