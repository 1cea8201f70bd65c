import type { Config } from '../config/index.ts'
import type { Overview, ProviderOverview } from '../core/overview.ts'
import type { Credential, Provider } from '../core/provider.ts'
import { maskedUrl } from '../wire/mask.ts'
import type { Snapshot } from './snapshot.ts'

interface Started {
  readonly config: Config
  readonly snapshot: Snapshot
  /** Those about the configuration alone. A missing credential adds its own. */
  readonly warnings: readonly string[]
}

export function overviewOf({ config, snapshot, warnings }: Started): Overview {
  const { auth, log_format: logFormat } = config
  return {
    providers: snapshot.providers.map(describe),
    models: snapshot.models().length,
    logFormat,
    auth: auth.enabled
      ? { enabled: true, database: withoutQuery(auth.db_path) }
      : { enabled: false },
    warnings: [...warnings, ...snapshotWarnings(snapshot)],
  }
}

/** One line for each provider whose requests fail for want of a credential, and what kinds warn of. */
export function snapshotWarnings({ providers, warnings }: Snapshot): readonly string[] {
  const missing = providers.flatMap(({ credential }) =>
    credential.kind === 'missing' ? [credential.message] : [],
  )
  return [...missing, ...warnings]
}

function describe({ name, kind, baseUrl, egress, credential }: Provider): ProviderOverview {
  return {
    name,
    kind: kind.name,
    baseUrl: kind.createUpstream === undefined ? withoutQuery(baseUrl) : 'in this process',
    proxy: egress?.proxy === '' ? 'none' : egress?.proxy && maskedUrl(egress.proxy),
    credential: stateOf(credential),
    missing: credential.kind === 'missing' ? credential.message : undefined,
  }
}

function stateOf(credential: Credential): string {
  switch (credential.kind) {
    case 'secret':
      return credential.origin === 'store' ? 'stored' : 'present'
    case 'none':
      return 'not needed'
    case 'missing':
      return credential.state
    default:
      return credential satisfies never
  }
}

/** An address, a region or a path, without a query and a user's name and password. */
function withoutQuery(text: string): string {
  if (!URL.canParse(text)) return text
  const { protocol, host, pathname } = new URL(text)
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
}
