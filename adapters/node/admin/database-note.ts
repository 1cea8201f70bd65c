import { describeDatabase, hasFileContent, toFilePath } from '../store/file-path.ts'
import { isServerAddress } from '../store/messages.ts'

/** What a command says about the database that it opens. */
export interface DatabaseNote {
  readonly text: string
  /** The command creates it. */
  readonly isNew: boolean
}

/**
 * Looks at the database that a command opens next. A relative path begins in the working directory, so a command
 * always names the database with its absolute path.
 */
export function noteDatabase(path: string): DatabaseNote {
  const isNew = !isServerAddress(path) && !hasFileContent(toFilePath(path))
  const verb = isNew ? 'created' : 'using'
  return { text: `${verb} the database ${describeDatabase(path)}`, isNew }
}
