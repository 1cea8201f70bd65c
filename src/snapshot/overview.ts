import type { Config } from '../config/index.ts'
import type { CloudSource } from '../core/cloud-credential.ts'
import type {
  CacheOverview,
  Overview,
  ProfileOverview,
  ProviderOverview,
  SharedOverview,
} from '../core/overview.ts'
import type { Model, Provider } from '../core/provider.ts'
import { maskUrl } from '../wire/mask.ts'
import { describeCloud, describeCredentials } from './credential-state.ts'
import type { Snapshot } from './snapshot.ts'

interface OverviewInputs {
  readonly config: Config
  readonly snapshot: Snapshot
  /** The warnings of the configuration, without those of the snapshot. */
  readonly warnings: readonly string[]
}

/** Summarizes a configuration for operators. */
export function createOverview({ config, snapshot, warnings }: OverviewInputs): Overview {
  const { auth, log_format: logFormat } = config
  return {
    providers: snapshot.providers.map((provider) => describeProvider(provider, snapshot)),
    models: snapshot.models().length,
    routes: config.routes.length,
    logFormat,
    auth: auth.enabled ? { enabled: true, database: stripQuery(auth.db_path) } : { enabled: false },
    cache: describeCache(config),
    shared: describeShared(config),
    warnings: [...warnings, ...listSnapshotWarnings(snapshot)],
  }
}

function describeCache({ cache, providers }: Config): CacheOverview {
  if (!cache.enabled) return { enabled: false }
  const models = providers.flatMap((provider) => provider.models.filter((model) => model.cache))
  return { enabled: true, models: models.length, maxBytes: cache.max_bytes }
}

function describeShared({ shared }: Config): SharedOverview {
  if (!shared) return { enabled: false }
  const { url, url_env: variable = '', prefix } = shared
  return { enabled: true, server: url === undefined ? variable : stripQuery(url), prefix }
}

/**
 * Lists a line for each provider with a missing credential, and the warnings of kinds. Those of clouds are
 * logged when they are fetched.
 */
export function listSnapshotWarnings({ providers, warnings }: Snapshot): readonly string[] {
  return [...providers.flatMap((provider) => findMissing(provider) ?? []), ...warnings]
}

function findMissing({ credentials }: Provider): string | undefined {
  const messages = credentials.flatMap((one) => (one.kind === 'missing' ? one.message : []))
  return messages.length > 0 ? messages.join('; ') : undefined
}

function describeProvider(provider: Provider, snapshot: Snapshot): ProviderOverview {
  const { name, kind, baseUrl, egress, cloud, listInterval } = provider
  return {
    name,
    kind: kind.name,
    baseUrl: kind.createUpstream === undefined ? stripQuery(baseUrl) : 'in this process',
    proxy: egress?.proxy === '' ? 'none' : egress?.proxy && maskUrl(egress.proxy),
    credential: describeCredentials(provider).detail,
    missing: findMissing(provider) ?? (cloud && findCloudFailure(name, cloud)),
    ...(listInterval !== undefined && { listInterval }),
    profiles: listProfiles(snapshot.models().filter((model) => model.provider === provider)),
  }
}

function listProfiles(models: readonly Model[]): readonly ProfileOverview[] {
  const byOrigin = new Map<string, string[]>()
  for (const { id, chat } of models) {
    if (!chat?.profile) continue
    const { origin } = chat.profile
    const ids = byOrigin.get(origin)
    if (ids) ids.push(id)
    else byOrigin.set(origin, [id])
  }
  return Array.from(byOrigin, ([origin, ids]) => ({ origin, models: ids }))
}

function findCloudFailure(provider: string, source: CloudSource): string | undefined {
  if (source.state.kind === 'held') return undefined
  return `provider ${provider}: ${describeCloud(source).detail}`
}

/** Removes the query and the credential from the address of a server. Paths, and `file:` ones, stay as they are. */
function stripQuery(text: string): string {
  if (!/^[a-z]{2,}:\/\//i.test(text) || !URL.canParse(text)) return text
  const { protocol, host, pathname } = new URL(text)
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
}
