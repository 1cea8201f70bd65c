import { isPattern } from '../../../src/core/model-pattern.ts'
import { type Entry, knownInfo, knownParams } from './litellm-file.ts'
import { type Notes, noteUnknown } from './litellm-notes.ts'
import { readUpstream, type UpstreamOptions } from './litellm-provider.ts'
import type { ConvertedAddress, ConvertedModel, ConvertedProvider } from './litellm-result.ts'

/** The models of a file: by provider, and those of one name as the targets of a route. */
export interface Models {
  readonly providers: readonly ConvertedProvider[]
  readonly routes: ReadonlyMap<string, Members>
}

/** The models of one name. */
export interface Members {
  readonly targets: readonly ConvertedModel[]
  /** Serve when no target does, in this order. */
  readonly later: readonly string[]
}

/** Groups the models by provider, and those of the same name as members of a route. */
export function groupModels(
  list: readonly Entry[],
  context: Omit<UpstreamOptions, 'place'>,
): Models {
  const { notes } = context
  const names = countNames(list)
  const ids = new Set(names.keys())
  const left = new Set<string>()
  const converted: Converted[] = []
  for (const [at, entry] of list.entries()) {
    const name = entry.model_name
    const place = `model_list[${at}] (${name})`
    const upstream = readUpstream(entry, { ...context, place })
    const twin = findTwin(name, converted)
    if (typeof upstream === 'string' || twin !== undefined) {
      notes.left.push(`${place}: ${typeof upstream === 'string' ? upstream : twin}`)
      left.add(name)
      continue
    }
    const isShared = (names.get(name) ?? 0) > 1 && !isPattern(name)
    const id = isShared ? findFreeId(name, ids) : name
    const { upstreamId, ...address } = upstream
    converted.push({ place, address, model: { id, name, upstreamId, entry } })
  }
  const kept = dropGreedyPatterns(converted, { left, notes })
  for (const { place, model } of kept) noteRest(place, model.entry, notes)
  const models = kept.map(({ model }) => model)
  return { providers: groupByProvider(kept), routes: groupByName(models) }
}

interface Converted {
  /** The name of the entry in notes. */
  readonly place: string
  readonly address: ConvertedAddress
  readonly model: ConvertedModel
}

/** A route cannot spread the requests of a pattern. */
function findTwin(name: string, converted: readonly Converted[]): string | undefined {
  const isTwin = isPattern(name) && converted.some(({ model }) => model.name === name)
  return isTwin ? 'a second entry of one pattern' : undefined
}

interface Greed {
  /** The names of entries that are not converted. */
  readonly left: Set<string>
  readonly notes: Notes
}

/**
 * Leaves out patterns that would serve the name of a model that is not converted: its requests must not go to
 * another vendor.
 */
function dropGreedyPatterns(
  converted: readonly Converted[],
  { left, notes }: Greed,
): readonly Converted[] {
  const names = new Set(converted.map(({ model }) => model.name))
  const lost = [...left].filter((name) => !names.has(name))
  for (const each of converted) {
    const { name } = each.model
    const victim = isPattern(name)
      ? lost.find((other) => other !== name && other.startsWith(name.slice(0, -1)))
      : undefined
    if (victim === undefined) continue
    notes.left.push(`${each.place}: it would serve ${victim}, which is not converted`)
    // The names of this pattern must not go to a shorter one either.
    left.add(name)
    return dropGreedyPatterns(
      converted.filter((other) => other !== each),
      { left, notes },
    )
  }
  return converted
}

function noteRest(place: string, entry: Entry, notes: Notes): void {
  const { litellm_params: params, model_info: info } = entry
  const known = [...knownParams, ...awsVariables(entry)]
  noteUnknown(params, { known, place: `${place}.litellm_params.`, notes })
  noteUnknown(info, { known: knownInfo, place: `${place}.model_info.`, notes })
  const rest = ['model_name', 'litellm_params', 'model_info']
  noteUnknown(entry, { known: rest, place: `${place}.`, notes })
  if (params.drop_params === false) {
    notes.left.push(`${place}.litellm_params.drop_params: set strict = true on the provider`)
  }
}

/** The parameters that name the variables which the gateway reads by itself. */
function awsVariables({ litellm_params: params }: Entry): readonly string[] {
  const names = ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token']
  return names.filter((name) => params[name] === `os.environ/${name.toUpperCase()}`)
}

function countNames(list: readonly Entry[]): ReadonlyMap<string, number> {
  const names = new Map<string, number>()
  for (const { model_name: name } of list) names.set(name, (names.get(name) ?? 0) + 1)
  return names
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

/** Models of the same address and the same credential are of one provider. */
function groupByProvider(converted: readonly Converted[]): readonly ConvertedProvider[] {
  const providers = new Map<string, ConvertedProvider>()
  for (const { address, model } of converted) {
    const key = JSON.stringify(
      Object.entries(address).sort(([one], [other]) => (one < other ? -1 : 1)),
    )
    const found = providers.get(key) ?? {
      name: nameProvider(address, providers),
      ...address,
      models: [],
    }
    found.models.push(model)
    providers.set(key, found)
  }
  return [...providers.values()]
}

function nameProvider(
  { kind }: ConvertedAddress,
  providers: ReadonlyMap<string, ConvertedProvider>,
): string {
  const same = [...providers.values()].filter((each) => each.kind === kind).length
  return same === 0 ? kind : `${kind}-${same + 1}`
}

/** The deployments of the lowest `order` are the targets; the others serve after them. */
function groupByName(models: readonly ConvertedModel[]): ReadonlyMap<string, Members> {
  const named = new Map<string, ConvertedModel[]>()
  for (const model of models) {
    if (model.id === model.name) continue
    named.set(model.name, [...(named.get(model.name) ?? []), model])
  }
  return new Map(
    Array.from(named, ([name, members]) => {
      const orders = members.map(readOrder)
      const first = Math.min(...orders)
      const targets = members.filter((model) => readOrder(model) === first)
      const later = members
        .filter((model) => readOrder(model) !== first)
        .sort((one, other) => readOrder(one) - readOrder(other))
        .map(({ id }) => id)
      return [name, { targets, later }]
    }),
  )
}

/** Deployments without an order come last. */
function readOrder({ entry }: ConvertedModel): number {
  return entry.litellm_params.order ?? Number.MAX_VALUE
}
