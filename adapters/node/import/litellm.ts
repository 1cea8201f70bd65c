import type { Environment } from '../../../src/index.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { type Entry, knownInfo, knownParams, readLitellmFile } from './litellm-file.ts'
import { type Notes, noteUnknown } from './litellm-notes.ts'
import { readUpstream } from './litellm-provider.ts'
import {
  isGuarded,
  noteSettings,
  readAliases,
  readFallbacks,
  readResilience,
  readStrategy,
} from './litellm-settings.ts'
import {
  findCapability,
  hasPrices,
  type Model,
  type Provider,
  type WeightedTarget,
  writeProvider,
  writeRoute,
  writeTable,
} from './litellm-toml.ts'

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
export function convertLitellm(document: unknown, { name, env }: ConvertOptions): Conversion {
  const { model_list: list, ...settings } = readLitellmFile(name, document)
  const notes: Notes = { left: [], next: [] }
  const { providers, targets } = groupModels(list, { env, notes })
  if (providers.length === 0) {
    throw new CommandFailure(2, `${name}: no entry of model_list can be converted`, ...notes.left)
  }
  const strategy = readStrategy(settings, notes)
  noteSettings(settings, notes)
  const models = providers.flatMap((provider) => provider.models)
  const groups = groupByName(models, targets)
  const listFallbacks = createFallbackFinder({ groups, fallbacks: readFallbacks(settings), notes })
  const guarded = isGuarded(settings, env)
  noteNext({ guarded, unpriced: models.filter((model) => !hasPrices(model)).length }, notes)
  const toml = [
    '# Converted from a configuration of LiteLLM.',
    ...(guarded ? [writeTable('auth', { enabled: true })] : []),
    writeTable('resilience', readResilience(settings)),
    ...providers.map((provider) => writeProvider(provider, listFallbacks)),
    ...Array.from(targets, ([id, members]) =>
      writeRoute({ id, strategy, targets: members, fallbacks: listFallbacks(id) }),
    ),
    ...readAliases(settings).flatMap(({ alias, target }) => {
      const members =
        targets.get(target) ??
        groups.get(target)?.map(({ id }) => ({ model: id, weight: undefined }))
      if (members) {
        return writeRoute({
          id: alias,
          strategy,
          targets: members,
          fallbacks: listFallbacks(target),
        })
      }
      notes.left.push(`router_settings.model_group_alias.${alias}: no model ${target}`)
      return []
    }),
  ].filter((part) => part !== '')
  return { toml: `${toml.join('\n')}\n`, ...notes }
}

interface Outlook {
  readonly guarded: boolean
  readonly unpriced: number
}

function noteNext({ guarded, unpriced }: Outlook, notes: Notes): void {
  if (guarded) {
    notes.next.push(
      'auth is on, as in the proxy: set GATEWAY_MASTER_KEY (64 hex digits, as `openssl rand -hex 32` prints ' +
        'them), and create keys with `gateway keys create`',
    )
  }
  // Budgets rely on prices.
  if (guarded && unpriced > 0) {
    const count = unpriced === 1 ? '1 model has' : `${unpriced} models have`
    notes.next.push(`${count} no prices: \`gateway prices --only-missing --write\` fills them in`)
  }
}

interface Context {
  readonly env: Environment
  readonly notes: Notes
}

/** Groups the models by provider, and those of the same name as targets of a route. */
function groupModels(list: readonly Entry[], context: Context) {
  const { notes } = context
  const names = countNames(list)
  const providers = new Map<string, Provider>()
  const targets = new Map<string, WeightedTarget[]>()
  const ids = new Set(names.keys())
  for (const [at, entry] of list.entries()) {
    const name = entry.model_name
    const place = `model_list[${at}] (${name})`
    const upstream = readUpstream(entry, { ...context, place })
    if (typeof upstream === 'string') {
      notes.left.push(`${place}: ${upstream}`)
      continue
    }
    const id = (names.get(name) ?? 0) > 1 ? findFreeId(name, ids) : name
    if (id !== name) {
      const weight = entry.litellm_params.weight ?? undefined
      targets.set(name, [...(targets.get(name) ?? []), { model: id, weight }])
    }
    const { upstreamId, ...address } = upstream
    findProvider(providers, address).models.push({ id, name, upstreamId, entry })
    noteUnknown(entry.litellm_params, {
      known: [...knownParams, ...awsVariables(entry)],
      place: `${place}.litellm_params.`,
      notes,
    })
    noteUnknown(entry.model_info, { known: knownInfo, place: `${place}.model_info.`, notes })
  }
  return { providers: [...providers.values()], targets }
}

/** Returns `name-1`, or the next number that no other model has, and takes it. */
function findFreeId(name: string, ids: Set<string>): string {
  for (let turn = 1; ; turn++) {
    const id = `${name}-${turn}`
    if (ids.has(id)) continue
    ids.add(id)
    return id
  }
}

/** The parameters that name the variables which the gateway reads by itself. */
function awsVariables({ litellm_params: params }: Entry): readonly string[] {
  const names = ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token']
  return names.filter((name) => params[name] === `os.environ/${name.toUpperCase()}`)
}

type Address = Omit<Provider, 'name' | 'models'>

/** Returns the provider with this address and this key; adds it if there is none. */
function findProvider(providers: Map<string, Provider>, address: Address): Provider {
  const { kind, variable, address: url, version } = address
  const key = JSON.stringify([kind, variable, url, version])
  const found = providers.get(key)
  if (found) return found
  const same = [...providers.values()].filter((each) => each.kind === kind).length
  const name = same === 0 ? kind : `${kind}-${same + 1}`
  const provider = { name, ...address, models: [] }
  providers.set(key, provider)
  return provider
}

function countNames(list: readonly Entry[]): ReadonlyMap<string, number> {
  const names = new Map<string, number>()
  for (const { model_name: name } of list) names.set(name, (names.get(name) ?? 0) + 1)
  return names
}

/** Lists the models by their names in LiteLLM, and by their ids. */
function groupByName(models: readonly Model[], targets: ReadonlyMap<string, unknown>) {
  const groups = new Map<string, readonly Model[]>()
  for (const model of models) {
    groups.set(model.name, [...(groups.get(model.name) ?? []), model])
    if (targets.has(model.name)) groups.set(model.id, [model])
  }
  return groups
}

interface FallbackContext {
  readonly groups: ReadonlyMap<string, readonly Model[]>
  readonly fallbacks: ReturnType<typeof readFallbacks>
  readonly notes: Notes
}

/** Returns a function that lists the fallbacks of a name: models, so a route is replaced by its targets. */
function createFallbackFinder({ groups, fallbacks: { byName, others }, notes }: FallbackContext) {
  for (const [name, list] of byName) {
    const unknown = list.filter((other) => !groups.has(other))
    if (unknown.length > 0) notes.left.push(`fallbacks of ${name}: no model ${unknown.join(', ')}`)
  }
  return (name: string): readonly string[] => {
    const own = groups.get(name) ?? []
    const [first] = own
    const wanted = byName.get(name) ?? others
    const found = wanted.flatMap((other) => groups.get(other) ?? [])
    const fitting = found.filter(
      (model) => !own.includes(model) && first && findCapability(model) === findCapability(first),
    )
    return [...new Set(fitting.map(({ id }) => id))]
  }
}
