import type { Environment, Overview } from '../../../src/index.ts'

export interface StartOptions {
  /** The text of the configuration, in TOML. */
  readonly config: string
  /** The configuration file, which is watched for changes; undefined for the demo. */
  readonly path?: string | undefined
  readonly env: Environment
  /** Starts even if another gateway uses the same database. */
  readonly allowSecond?: boolean | undefined
  /** Called when the gateway accepts connections. */
  readonly onListening?: ((address: string, overview: Overview) => void) | undefined
}

/** The failure of a gateway that could not save all usage when it stopped. */
export const unsavedUsage = 'some usage could not be saved; the log says how much'
