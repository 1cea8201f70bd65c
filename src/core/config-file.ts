import { invalid } from './errors.ts'

/** The file that the configuration stands in, for those who may replace it. */
export interface ConfigFile {
  /** The bytes of the file as it is now. Rejects when it cannot be read. */
  read(): Promise<Uint8Array>
  /** Writes a successor beside the file, which stays as it is. Rejects when it cannot be written. */
  stage(bytes: Uint8Array): Promise<StagedFile>
}

/** A file that waits to take the place of the configuration file. One of its functions ends it. */
export interface StagedFile {
  /**
   * Keeps a copy of the configuration file and replaces the file, in one step, for good. When it
   * rejects, the file is as it was.
   */
  commit(): Promise<void>
  /** Removes what was staged; after a commit there is nothing to remove. Never rejects. */
  discard(): Promise<void>
}

/** The stand-in where the host gave the configuration as text: it can be read, and no more. */
export function textAsFile(text: string): ConfigFile {
  const bytes = new TextEncoder().encode(text)
  return {
    read: async () => bytes,
    stage: async () => {
      throw invalid('this gateway was given its configuration as text: there is no file to replace')
    },
  }
}
