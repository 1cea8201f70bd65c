import type { Profile, ProfileFields, ProfileOrigin, ProfileSetting } from '../../core/profile.ts'
import { families, findFamily, getFamily, toBareId } from './families.ts'
import type { Family } from './family.ts'
import { findPlatformByHost, getPlatform, type Platform, platforms } from './platforms/index.ts'
import { unknownProfile } from './unknown.ts'

/** What decides the profile of a model. */
export interface ProfileSource {
  readonly kind: string
  readonly baseUrl: string
  /** The address comes from the configuration file; it is not the vendor's own. */
  readonly hasCustomBaseUrl: boolean
  readonly upstreamId: string
  /** `reasoning = true`: the model takes `reasoning_effort`. */
  readonly takesEffort: boolean
  /** The settings of the provider and of the model, where they exist. */
  readonly settings: readonly ProfileSetting[]
}

/** A profile, and where it came from. */
export interface ResolvedProfile extends ProfileOrigin {
  readonly profile: Profile
  /** The models whose reasoning this model takes back; undefined when unknown: only its own. */
  readonly lineage: string | undefined
}

/** Merges the profile of a model: the platform, then the family, then the settings, field by field. */
export function resolveProfile(source: ProfileSource): ResolvedProfile {
  const platform = findPlatform(source)
  const family = findFamilyOn(platform?.row, source.upstreamId)
  let rows: Rows = {
    platform: platform?.row.fields ?? {},
    model: findModelOn(platform?.row, source.upstreamId),
    family: family?.fields ?? {},
    names: [platform?.row.name, family?.name].filter((name) => name !== undefined),
    origins: [
      ...(platform ? [`${platform.row.name} (${platform.from})`] : []),
      ...(family ? [`${family.name} (upstream id)`] : []),
    ],
  }
  let fields: ProfileFields = {}
  for (const setting of source.settings) {
    const name = typeof setting === 'string' ? setting : setting.base
    if (name !== undefined) {
      rows = toNamedRows(name)
      fields = {}
    }
    if (typeof setting !== 'string') fields = { ...fields, ...setting.fields }
  }
  const merged = { ...mergeRows(rows), ...fields }
  const takesEffort = source.takesEffort && merged.reasoningSwitch === 'none'
  const origins = [...rows.origins, ...(Object.keys(fields).length > 0 ? ['settings'] : [])]
  return {
    profile: Object.freeze({
      ...merged,
      ...(takesEffort && { reasoningSwitch: 'effort' as const }),
    }),
    names: rows.names,
    origin: origins.length > 0 ? origins.join(', ') : 'unknown upstream',
    lineage: family?.name.split('-')[0],
  }
}

/** The names that the setting `profile` accepts. */
export function listProfileNames(): string[] {
  const names = [...platforms, ...families].map(({ name }) => name)
  return ['none', ...new Set(names)]
}

interface Rows {
  readonly platform: ProfileFields
  /** What the platform says of some of its models. */
  readonly model: ProfileFields
  readonly family: ProfileFields
  readonly names: readonly string[]
  readonly origins: readonly string[]
}

function findPlatform({
  kind,
  baseUrl,
  hasCustomBaseUrl,
}: ProfileSource): { readonly row: Platform; readonly from: string } | undefined {
  // Kind `openai` is also the way to every server of its format.
  if (kind === 'openai' && hasCustomBaseUrl) {
    const row = findPlatformByHost(baseUrl)
    return row && { row, from: 'host of base_url' }
  }
  const row = getPlatform(kind)
  return row && { row, from: 'kind' }
}

function findFamilyOn(platform: Platform | undefined, upstreamId: string): Family | undefined {
  const id = toBareId(upstreamId)
  const { aliases } = platform ?? {}
  return aliases?.matches.test(id) ? getFamily(aliases.family) : findFamily(id)
}

function findModelOn(platform: Platform | undefined, upstreamId: string): ProfileFields {
  const id = toBareId(upstreamId)
  return platform?.models?.find(({ matches }) => matches.test(id))?.fields ?? {}
}

/** A name of both a platform and a family means both. */
function toNamedRows(name: string): Rows {
  const platform = getPlatform(name)?.fields ?? {}
  const family = getFamily(name)?.fields ?? {}
  const names = name === 'none' ? [] : [name]
  return { platform, model: {}, family, names, origins: [`${name} (setting)`] }
}

/**
 * A family decides what its template demands; the names of fields are the platform's where its row has them.
 * What may not be sent adds up.
 */
function mergeRows({ platform, model, family }: Rows): Profile {
  const wire = pickWireFields({ ...platform, ...model })
  const base = { ...unknownProfile, ...platform, ...family, ...model, ...wire }
  const refused = platform.dropParameters ?? unknownProfile.dropParameters
  return { ...base, dropParameters: [...new Set([...refused, ...(family.dropParameters ?? [])])] }
}

const wireFields: ReadonlySet<string> = new Set<keyof Profile>([
  'strictTools',
  'parallelToolCalls',
  'boundField',
  'responseFormats',
  'responseFormatsThinking',
  'responseFormatsWithTools',
  'reasoningSwitch',
  'reasoningEfforts',
  'reasoningOff',
  'reasoningField',
  'emptyContent',
  'cacheControl',
  'promptCacheKey',
  'serviceTier',
  'verbosity',
  'streamEnd',
  'extraBody',
])

/** A platform with a switch of its own decides its words too. */
function pickWireFields(platform: ProfileFields): ProfileFields {
  const own = Object.entries(platform).filter(([name]) => wireFields.has(name))
  if (platform.reasoningSwitch === undefined) return Object.fromEntries(own)
  const { reasoningEfforts, reasoningOff } = unknownProfile
  return { reasoningEfforts, reasoningOff, ...Object.fromEntries(own) }
}
