import type { Strategy } from '../../../src/core/route.ts'
import { CommandFailure } from '../command-failure.ts'
import {
  type Entry,
  knownInfo,
  knownParams,
  type LitellmFile,
  litellmSchema,
} from './litellm-file.ts'
import { splitModel } from './litellm-model.ts'
import { type Provider, type WeightedTarget, writeProvider, writeRoute } from './litellm-toml.ts'

/** A configuration in TOML, and what of the other file has no equal in it, one line each. */
export interface Conversion {
  readonly toml: string
  readonly notes: readonly string[]
}

/**
 * Converts the parsed configuration of a LiteLLM proxy. Entries of the same name become a route. Keys
 * must come from variables; a key in the file is never copied. Throws a `CommandFailure` for a document
 * of another form.
 *
 * @see https://docs.litellm.ai/docs/proxy/configs
 */
export function convertLitellm(document: unknown): Conversion {
  const parsed = litellmSchema.safeParse(document ?? {})
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
    throw new CommandFailure(2, ...problems)
  }
  const notes: string[] = []
  const { model_list: list, ...settings } = parsed.data
  const { providers, targets } = groupModels(list, notes)
  const fallbacks = collectFallbacks(settings, notes)
  const { router_settings: router, litellm_settings: own } = settings
  const strategy = readStrategy(router?.routing_strategy, notes)
  noteSettings(settings, notes)
  const ids = new Set(providers.flatMap(({ models }) => models.map(({ id }) => id)))
  // A fallback is a model, so a route is replaced by its targets.
  const listFallbacks = (name: string) => {
    const wanted = fallbacks.get(name) ?? []
    const models = wanted.flatMap((other) => targets.get(other)?.map(({ model }) => model) ?? other)
    return [...new Set(models)].filter((id) => ids.has(id))
  }
  const retries = router?.num_retries ?? own?.num_retries
  const toml = [
    '# Converted from a configuration of LiteLLM.',
    ...(retries === undefined ? [] : [`\n[resilience]\nretry_max_attempts = ${retries + 1}`]),
    ...providers.map((provider) => writeProvider(provider, listFallbacks)),
    ...Array.from(targets, ([id, models]) =>
      writeRoute({ id, strategy, targets: models, fallbacks: listFallbacks(id) }),
    ),
  ].join('\n')
  return { toml: `${toml}\n`, notes }
}

/** The strategies of LiteLLM that a route has. https://docs.litellm.ai/docs/routing */
const strategies: ReadonlyMap<string, Strategy> = new Map([
  ['simple-shuffle', 'weighted'],
  ['least-busy', 'least_busy'],
  ['latency-based-routing', 'fastest'],
  ['cost-based-routing', 'cheapest'],
])

function readStrategy(name: string | undefined, notes: string[]): Strategy {
  const strategy = name === undefined ? 'weighted' : strategies.get(name)
  if (strategy === undefined) {
    notes.push(`router_settings.routing_strategy: no route has ${name}; "weighted" is written`)
  }
  return strategy ?? 'weighted'
}

/** Groups the models by provider, and those of the same name as targets of a route. */
function groupModels(list: readonly Entry[], notes: string[]) {
  const names = countNames(list)
  const providers = new Map<string, Provider>()
  const targets = new Map<string, WeightedTarget[]>()
  const used = new Map<string, number>()
  for (const [at, entry] of list.entries()) {
    const name = entry.model_name
    const place = `model_list[${at}] (${name})`
    const provider = findProvider(entry, { providers, place, notes })
    if (!provider) continue
    const turn = (used.get(name) ?? 0) + 1
    used.set(name, turn)
    const id = (names.get(name) ?? 0) > 1 ? `${name}-${turn}` : name
    if (id !== name) {
      const { weight } = entry.litellm_params
      targets.set(name, [...(targets.get(name) ?? []), { model: id, weight }])
    }
    provider.models.push({ id, entry })
    noteUnknown(entry.litellm_params, {
      known: knownParams,
      place: `${place}.litellm_params.`,
      notes,
    })
    noteUnknown(entry.model_info ?? {}, { known: knownInfo, place: `${place}.model_info.`, notes })
  }
  return { providers: [...providers.values()], targets }
}

/** What a file has beside its models. */
type Settings = Pick<LitellmFile, 'router_settings' | 'litellm_settings'>

function noteSettings(settings: Settings, notes: string[]): void {
  const { router_settings: router = {}, litellm_settings: own = {} } = settings
  const known = ['fallbacks', 'num_retries']
  noteUnknown(router, {
    known: [...known, 'routing_strategy'],
    place: 'router_settings.',
    notes,
  })
  noteUnknown(own, { known, place: 'litellm_settings.', notes })
  noteUnknown(settings, { known: ['router_settings', 'litellm_settings'], place: '', notes })
}

interface FindContext {
  readonly providers: Map<string, Provider>
  readonly place: string
  readonly notes: string[]
}

function findProvider(
  { litellm_params: params }: Entry,
  { providers, place, notes }: FindContext,
): Provider | undefined {
  const { kind } = splitModel(params.model)
  if (kind === '') {
    notes.push(`${place}: no kind for ${params.model}`)
    return undefined
  }
  const variable = readVariable(params.api_key, `${place}.litellm_params.api_key`, notes)
  const { api_base: address, api_version: version } = params
  const key = JSON.stringify([kind, variable, address, version])
  const found = providers.get(key)
  if (found) return found
  const same = [...providers.values()].filter((each) => each.kind === kind).length
  const name = same === 0 ? kind : `${kind}-${same + 1}`
  const provider = { name, kind, variable, address, version, models: [] }
  providers.set(key, provider)
  return provider
}

/** Returns the variable of a key. A key in the file itself is reported without its value. */
function readVariable(key: string | undefined, place: string, notes: string[]): string | undefined {
  const variable = key === undefined ? undefined : /^os\.environ\/(\w+)$/.exec(key)?.[1]
  if (key !== undefined && variable === undefined) {
    notes.push(`${place}: put this key into a variable, and name it in api_key_env`)
  }
  return variable
}

function countNames(list: readonly Entry[]): ReadonlyMap<string, number> {
  const names = new Map<string, number>()
  for (const { model_name: name } of list) names.set(name, (names.get(name) ?? 0) + 1)
  return names
}

function collectFallbacks(
  { router_settings: router, litellm_settings: settings }: Settings,
  notes: string[],
): ReadonlyMap<string, readonly string[]> {
  const lists = [...(router?.fallbacks ?? []), ...(settings?.fallbacks ?? [])].flatMap(
    Object.entries,
  )
  for (const [name] of lists) {
    if (name === '*') notes.push('fallbacks for "*": name the models')
  }
  return new Map(lists)
}

interface NoteContext {
  readonly known: readonly string[]
  /** What precedes the name in the note. */
  readonly place: string
  readonly notes: string[]
}

function noteUnknown(table: object, { known, place, notes }: NoteContext): void {
  for (const name of Object.keys(table)) {
    if (!known.includes(name)) notes.push(place + name)
  }
}
