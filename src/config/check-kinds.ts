import type { Capability } from '../core/capability.ts'
import { isPattern } from '../core/model-pattern.ts'
import { nearestName } from '../core/nearest-name.ts'
import type { KindFacts } from '../core/provider-kind.ts'
import { isRegion } from './addresses.ts'
import type { LenientProvider } from './lenient.ts'
import { findPeerKind } from './peer-names.ts'
import { type Finding, type Path, quoteName, withNote } from './problem.ts'
import type { ParsedConfig } from './schema.ts'

/** Checks every provider against its kind: address, settings, and the capabilities of its models. */
export function* checkKinds(
  providers: readonly LenientProvider[],
  kinds: readonly KindFacts[],
): Generator<Finding> {
  const named = indexByName(kinds)
  for (const [i, provider] of providers.entries()) {
    const path = ['providers', i]
    if (provider.kind === undefined) continue
    const kind = named.get(provider.kind)
    if (kind === undefined) {
      yield { path: [...path, 'kind'], ...unknownKind(provider.kind, named) }
      continue
    }
    yield* checkAddress(path, provider, kind)
    if (provider.discover && !kind.models) yield { path: [...path, 'discover'], ...noList(kind) }
    yield* checkCloud(path, provider, kind)
    yield* checkOwnSettings(path, provider, kind, kinds)
    yield* checkCapabilities(path, provider, kind)
    yield* checkInputTypes(path, provider, kind)
    yield* checkDecisions(path, provider, kind)
    yield* checkProfiles(path, provider, kind)
    yield* checkCosts(path, provider, kind)
    yield* checkMarks(path, provider, kind)
  }
}

function unknownKind(name: string, named: ReadonlyMap<string, KindFacts>): Omit<Finding, 'path'> {
  const peer = findPeerKind(name)
  const message = withNote(`unknown kind ${quoteName(name)}`, peer?.note)
  return { message, suggestion: peer?.suggestion ?? nearestName(name, named.keys()) }
}

function noList({ name }: KindFacts): Omit<Finding, 'path'> {
  const message = `is not available: kind ${quoteName(name)} has no list of models that the gateway can read`
  return { message }
}

/** Replaces every alias of a kind by the name of the kind. */
export function resolveAliases(config: ParsedConfig, kinds: readonly KindFacts[]): ParsedConfig {
  const named = indexByName(kinds)
  const providers = config.providers.map((provider) => ({
    ...provider,
    kind: named.get(provider.kind)?.name ?? provider.kind,
  }))
  return { ...config, providers }
}

function indexByName(kinds: readonly KindFacts[]): ReadonlyMap<string, KindFacts> {
  return new Map(
    kinds.flatMap((kind) => [kind.name, ...(kind.aliases ?? [])].map((name) => [name, kind])),
  )
}

function* checkAddress(path: Path, provider: LenientProvider, kind: KindFacts): Generator<Finding> {
  const address = [...path, 'base_url']
  if ('health_path' in provider && !('base_url' in provider)) {
    const message = 'needs a base_url: the built-in addresses of vendors are not probed'
    yield { path: [...path, 'health_path'], message }
  }
  if (!('base_url' in provider)) {
    if (kind.defaultBaseUrl !== undefined) return
    yield {
      path: address,
      message: `is required: kind ${quoteName(kind.name)} has no default address`,
    }
  } else if (isRegion(provider.base_url ?? '') && kind.acceptsRegion !== true) {
    yield { path: address, message: 'must be an http or https URL' }
  }
}

/** Checks that the provider can carry the credential of a cloud, and that it has no other. */
function* checkCloud(path: Path, provider: LenientProvider, kind: KindFacts): Generator<Finding> {
  if (provider.credentials === undefined) {
    if (!('aws_profile' in provider) || 'credentials' in provider) return
    yield { path: [...path, 'aws_profile'], message: 'needs credentials = "aws"' }
    return
  }
  if (kind.cloud !== provider.credentials) {
    const allowed = kind.cloud === undefined ? 'a key' : quoteName(kind.cloud)
    const message = `kind ${quoteName(kind.name)} takes ${allowed}, not ${quoteName(provider.credentials)}`
    yield { path: [...path, 'credentials'], message }
  }
  const others = {
    api_key_env: provider.api_key_env !== undefined,
    api_key_envs: provider.api_key_envs.length > 0,
    messages_url: 'messages_url' in provider,
  }
  for (const [setting, isSet] of Object.entries(others)) {
    if (!isSet) continue
    yield { path: [...path, setting], message: 'cannot be combined with credentials' }
  }
  if ('aws_profile' in provider && provider.credentials !== 'aws') {
    yield { path: [...path, 'aws_profile'], message: 'needs credentials = "aws"' }
  }
}

function* checkOwnSettings(
  path: Path,
  provider: LenientProvider,
  kind: KindFacts,
  kinds: readonly KindFacts[],
): Generator<Finding> {
  for (const setting of new Set(kinds.flatMap(({ ownSettings = [] }) => ownSettings))) {
    if (!(setting in provider) || kind.ownSettings?.includes(setting)) continue
    yield {
      path: [...path, setting],
      message: `kind ${quoteName(kind.name)} does not have this setting`,
    }
  }
}

/** Checks that reported costs can be read: where the kind, or the configuration, knows their place. */
function* checkCosts(path: Path, provider: LenientProvider, kind: KindFacts): Generator<Finding> {
  const { cost, cost_field: field, cost_unit: unit } = provider
  yield* checkCost(path, { cost, field, unit }, kind)
  for (const [m, model] of provider.models.entries()) {
    const at = [...path, 'models', m]
    if (model.cost_field !== undefined && !kind.ownSettings?.includes('cost_field')) {
      const message = `kind ${quoteName(kind.name)} does not have this setting`
      yield { path: [...at, 'cost_field'], message }
    }
    const inherited = { cost: model.cost, field: model.cost_field ?? field, unit: model.cost_unit }
    yield* checkCost(at, inherited, kind)
  }
}

/** Checks that only models of Claude have marks of the gateway. */
function* checkMarks(path: Path, provider: LenientProvider, kind: KindFacts): Generator<Finding> {
  for (const [m, model] of provider.models.entries()) {
    const { cache_marks: marks, id = '', upstream_id: upstreamId = id } = model
    if (marks === undefined || kind.findMarker?.({ upstreamId, modelId: id })) continue
    const message = kind.findMarker
      ? `is for models of Claude, which ${quoteName(upstreamId)} is not`
      : `is for models of Claude, which kind ${quoteName(kind.name)} does not serve`
    yield { path: [...path, 'models', m, 'cache_marks'], message }
  }
}

interface CostSettings {
  readonly cost: string | undefined
  readonly field: unknown
  readonly unit: unknown
}

function* checkCost(
  path: Path,
  { cost, field, unit }: CostSettings,
  { name, statesCost }: KindFacts,
): Generator<Finding> {
  if (unit !== undefined && field === undefined) {
    yield { path: [...path, 'cost_unit'], message: 'needs cost_field' }
  }
  if (cost !== 'reported' || field !== undefined || statesCost) return
  const message = `needs cost_field: answers of kind ${quoteName(name)} do not say what they cost`
  yield { path: [...path, 'cost'], message }
}

function* checkCapabilities(
  path: Path,
  provider: LenientProvider,
  kind: KindFacts,
): Generator<Finding> {
  for (const [m, { capabilities }] of provider.models.entries()) {
    for (const capability of capabilities ?? []) {
      const message = findUnserved(capability, provider, kind)
      if (message !== undefined) yield { path: [...path, 'models', m, 'capabilities'], message }
    }
  }
}

function* checkInputTypes(
  path: Path,
  provider: LenientProvider,
  kind: KindFacts,
): Generator<Finding> {
  for (const [
    m,
    { id = '', upstream_id: upstreamId = id, input_type: type },
  ] of provider.models.entries()) {
    // The names that a pattern stands for are not known.
    const allowed = isPattern(id) ? undefined : kind.listInputTypes?.(upstreamId)
    if (type === undefined || !allowed || allowed.includes(type)) continue
    const message = `must be one of ${allowed.map(quoteName).join(', ')}`
    yield {
      path: [...path, 'models', m, 'input_type'],
      message,
      suggestion: nearestName(type, allowed),
    }
  }
}

/** Only a kind that serves decisions has a form and a path for them. */
function* checkDecisions(
  path: Path,
  { models }: LenientProvider,
  { name, capabilities }: KindFacts,
): Generator<Finding> {
  if (capabilities.includes('decisions')) return
  for (const [m, model] of models.entries()) {
    for (const setting of ['decisions', 'decisions_path'] as const) {
      if (model[setting] === undefined) continue
      const message = `kind ${quoteName(name)} does not have this setting`
      yield { path: [...path, 'models', m, setting], message }
    }
  }
}

/** Checks the names of profiles, of the provider and of its models. */
function* checkProfiles(
  path: Path,
  provider: LenientProvider,
  { name: kind, profileNames }: KindFacts,
): Generator<Finding> {
  const owners = [
    { place: path, setting: provider.profile },
    ...provider.models.map(({ profile }, m) => ({
      place: [...path, 'models', m],
      setting: profile,
    })),
  ]
  for (const { place, setting } of owners) {
    if (setting === undefined) continue
    const at = [...place, 'profile']
    if (!profileNames) {
      yield { path: at, message: `kind ${quoteName(kind)} does not have this setting` }
      continue
    }
    const isName = typeof setting === 'string'
    const name = isName ? setting : setting.base
    if (name === undefined || profileNames.includes(name)) continue
    yield {
      path: isName ? at : [...at, 'base'],
      message: `no profile has the name ${quoteName(name)}`,
      suggestion: nearestName(name, profileNames),
    }
  }
}

function findUnserved(
  capability: Capability,
  provider: LenientProvider,
  kind: KindFacts,
): string | undefined {
  const name = quoteName(kind.name)
  if (capability === 'embed' && kind.embedNeedsBaseUrl) {
    if ('base_url' in provider) return undefined
    return `kind ${name} has no embeddings API: "embed" needs the base_url of a server that has one`
  }
  if (kind.capabilities.includes(capability)) return undefined
  return `kind ${name} serves ${kind.capabilities.map(quoteName).join(', ')}, not ${quoteName(capability)}`
}
