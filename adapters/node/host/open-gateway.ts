import { ConfigError, type Environment, type Gateway, StartError } from '../../../src/index.ts'
import {
  databaseInUse,
  databaseMissing,
  databaseShared,
  StoreFault,
} from '../../../src/store/index.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { toDatabaseFailure } from '../failures/database-failure.ts'
import { ProxySettingError } from '../upstream/proxy-rules.ts'
import { type NodePorts, nodePorts } from './node-ports.ts'

/** Returns the ports of Node.js. Throws a `CommandFailure` for a bad proxy variable. */
export function createPorts(env: Environment, open = nodePorts): NodePorts {
  try {
    return open(env)
  } catch (error) {
    if (error instanceof ProxySettingError) throw new CommandFailure(2, error.message)
    throw error
  }
}

/**
 * Awaits a gateway, and turns the reasons why it does not start into a `CommandFailure`. `inUseHint`
 * says what to do when another gateway uses the database.
 */
export async function openGateway(gateway: Promise<Gateway>, inUseHint?: string): Promise<Gateway> {
  try {
    return await gateway
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandFailure(2, ...error.problems)
    if (!(error instanceof StartError)) throw error
    const { cause } = error
    const code = cause instanceof StoreFault ? cause.code : undefined
    const isInUse = code === databaseInUse || code === databaseShared
    if (isInUse && inUseHint !== undefined) {
      throw new DatabaseInUse(1, `${(cause as StoreFault).message}; ${inUseHint}`)
    }
    if (cause instanceof StoreFault && cause.code === databaseMissing) {
      throw toDatabaseFailure(cause)
    }
    throw new CommandFailure(1, error.message)
  }
}

/** Another gateway uses the database. */
export class DatabaseInUse extends CommandFailure {}
