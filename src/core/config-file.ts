import { invalid } from './errors.ts'

/** The configuration file of a host. */
export interface ConfigFile {
  /** How operators call the file, in messages about it: its path, for example. */
  readonly name?: string | undefined
  /** Resolves to the current bytes of the file. Rejects when it cannot be read. */
  read(): Promise<Uint8Array>
  /** Writes a successor next to the file, which stays unchanged. Rejects when it cannot be written. */
  stage(bytes: Uint8Array): Promise<StagedFile>
}

/** A successor of the configuration file: commit it, then discard it in any case. */
export interface StagedFile {
  /**
   * Backs the configuration file up and replaces it atomically and durably. When it rejects, the file
   * is unchanged.
   */
  commit(): Promise<void>
  /** Removes the staged file; does nothing after a commit. Never rejects. */
  discard(): Promise<void>
}

/** Creates a read-only file from the text of a configuration, for a host that has no file. */
export function textAsFile(text: string): ConfigFile {
  const bytes = new TextEncoder().encode(text)
  return {
    read: async () => bytes,
    stage: async () => {
      throw invalid(
        'this gateway was started with a text as its configuration, so there is no file to replace',
      )
    },
  }
}
