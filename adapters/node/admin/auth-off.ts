import { isAuthOff } from '../../../src/config/index.ts'
import { readConfigText } from '../config/config-text.ts'
import type { CommandFailure } from '../failures/command-failure.ts'

/** The options that say which gateway a command is about. */
export interface NamedGateway {
  readonly config?: string
  readonly url?: string
}

/**
 * Returns the configuration when it turns auth off, so that there is no admin API to ask. Undefined when the
 * options name a gateway, or when there is no file.
 */
export async function findConfigWithoutAuth({
  config: path,
  url,
}: NamedGateway): Promise<string | undefined> {
  if (url !== undefined) return undefined
  const config = await readConfigText(path).catch((failure: CommandFailure) => {
    if (path !== undefined) throw failure
    return undefined
  })
  if (config === undefined) return undefined
  return isAuthOff(config, process.env) ? config : undefined
}
