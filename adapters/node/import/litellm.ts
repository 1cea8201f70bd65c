import { isPattern } from '../../../src/core/model-pattern.ts'
import type { Environment } from '../../../src/index.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { readCache, readShared } from './litellm-cache.ts'
import { createFallbackFinder, readAliases } from './litellm-fallbacks.ts'
import { readLitellmFile } from './litellm-file.ts'
import { groupModels, type Models } from './litellm-models.ts'
import type { Notes } from './litellm-notes.ts'
import type { ConvertedModel } from './litellm-result.ts'
import {
  isGuarded,
  noteSettings,
  readFileTimeout,
  readMaxParallel,
  readResilience,
  readStrategy,
  readTimeouts,
  readVariables,
} from './litellm-settings.ts'
import { hasPrices, writeProvider, writeRoute, writeTable } from './litellm-toml.ts'

export interface ConvertOptions {
  /** The name of the file in messages. */
  readonly name: string
  /** The variables that `os.environ/NAME` names. */
  readonly env: Environment
}

/** A configuration in TOML, and what to say about it. */
export interface Conversion extends Notes {
  readonly toml: string
}

/**
 * Converts the parsed configuration of a LiteLLM proxy. Entries of the same name become a route. Keys must come
 * from variables; a key in the file is never copied. Auth is on when the proxy asks for a key. Throws a
 * `CommandFailure` for a document of another form, and when no model can be converted.
 *
 * @see https://docs.litellm.ai/docs/proxy/configs
 */
export function convertLitellm(
  document: unknown,
  { name, env: given }: ConvertOptions,
): Conversion {
  const { model_list: list, ...settings } = readLitellmFile(name, document)
  const notes: Notes = { left: [], next: [] }
  const env = readVariables(settings, given)
  const converted = groupModels(list, { env, notes, timeouts: readTimeouts(settings) })
  const { providers, routes } = converted
  if (providers.length === 0) {
    throw new CommandFailure(2, `${name}: no entry of model_list can be converted`, ...notes.left)
  }
  const strategy = readStrategy(settings, notes)
  noteSettings(settings, notes)
  const groups = groupByName(converted)
  const listFallbacks = createFallbackFinder({ groups, settings, notes })
  const cache = readCache(settings, notes)
  const shared = readShared(settings, { env, notes })
  const timeout = readFileTimeout(settings, notes)
  const common = { cache, maxParallel: readMaxParallel(settings), listFallbacks }
  const guarded = isGuarded(settings, env)
  noteNext({ converted, guarded, variables: settings.environment_variables }, notes)
  const findMembers = (id: string) =>
    routes.get(id) ?? (groups.has(id) ? { targets: groups.get(id) ?? [], later: [] } : undefined)
  const writeMembers = (id: string, of: string) => {
    const { targets, later } = findMembers(of) ?? { targets: [], later: [] }
    const { ids, causes } = listFallbacks(of)
    return writeRoute({ id, strategy, targets, fallbacks: { ids: [...later, ...ids], causes } })
  }
  const toml = [
    '# Converted from a configuration of LiteLLM.',
    ...(settings.litellm_settings?.json_logs ? ['log_format = "json"'] : []),
    writeTable('server', { first_token_timeout_ms: timeout }),
    writeTable('auth', { enabled: guarded || undefined }),
    writeTable('resilience', readResilience(settings, timeout)),
    writeTable('cache', { enabled: cache && true, ttl_seconds: cache?.ttlSeconds }),
    writeTable('shared', { ...shared }),
    ...providers.map((provider) => writeProvider(provider, common)),
    ...Array.from(routes.keys(), (id) => writeMembers(id, id)),
    ...readAliases(settings).flatMap(({ alias, target, isHidden }) => {
      const place = `router_settings.model_group_alias.${alias}`
      if (findMembers(target) === undefined) {
        notes.left.push(`${place}: no model ${target}`)
        return []
      }
      if (isPattern(target)) {
        notes.left.push(`${place}: a route cannot have the pattern ${target} as a target`)
        return []
      }
      if (isHidden) notes.left.push(`${place}.hidden: lists of models show it`)
      return writeMembers(alias, target)
    }),
  ].filter((part) => part !== '')
  return { toml: `${toml.join('\n')}\n`, ...notes }
}

interface Outlook {
  readonly converted: Models
  readonly guarded: boolean
  /** Those that the file sets. */
  readonly variables: object | null | undefined
}

function noteNext({ converted, guarded, variables }: Outlook, notes: Notes): void {
  if (guarded) {
    notes.next.push(
      'auth is on, as in the proxy: set GATEWAY_MASTER_KEY (64 hex digits, as `openssl rand -hex 32` prints ' +
        'them), and create keys with `gateway keys create`',
    )
  }
  const names = Object.keys(variables ?? {})
  if (names.length > 0) {
    notes.next.push(
      `set these yourself, the file of the gateway sets no variables: ${names.join(', ')}`,
    )
  }
  const models = converted.providers.flatMap((provider) => provider.models)
  const unpriced = models.filter((model) => !hasPrices(model)).length
  // Budgets rely on prices.
  if (guarded && unpriced > 0) {
    const count = unpriced === 1 ? '1 model has' : `${unpriced} models have`
    notes.next.push(`${count} no prices: \`gateway prices --only-missing --write\` fills them in`)
  }
}

/** Lists the models by their names in LiteLLM, those of a lower order first, and by their ids. */
function groupByName({
  providers,
  routes,
}: Models): ReadonlyMap<string, readonly ConvertedModel[]> {
  const groups = new Map<string, readonly ConvertedModel[]>()
  for (const model of providers.flatMap((provider) => provider.models)) {
    groups.set(model.name, [...(groups.get(model.name) ?? []), model])
    if (routes.has(model.name)) groups.set(model.id, [model])
  }
  for (const [name, { targets, later }] of routes) {
    const others = later.flatMap((id) => groups.get(id) ?? [])
    groups.set(name, [...targets, ...others])
  }
  return groups
}
