import { databaseMissing, StoreFault } from '../../../src/store/index.ts'
import { CommandFailure } from './command-failure.ts'

/** There is no database, and the command must not create one. */
export class DatabaseMissing extends CommandFailure {}

/** Turns a fault of the database into the failure of a command; any other error stays as it is. */
export function toDatabaseFailure(error: unknown): unknown {
  if (!(error instanceof StoreFault)) return error
  if (error.code !== databaseMissing) return new CommandFailure(1, error.message)
  return new DatabaseMissing(1, `${error.message}; ${missingHint}`)
}

const missingHint =
  'check auth.db_path and the working directory, where a relative path begins (only `gateway serve` and ' +
  '`gateway keys create` create a database)'
