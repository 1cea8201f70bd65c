import type { Subject } from '../subjects.ts'

/** Another gateway. */
export interface Peer {
  readonly name: string
  /** Installs it from its registry, once, and returns its version. Throws when that fails. */
  readonly install: () => string
  readonly start: (upstreamPort: number) => Promise<Subject>
}
