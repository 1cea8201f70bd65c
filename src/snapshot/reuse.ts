import type { Config, ModelConfig, ProviderConfig, RouteConfig } from '../config/index.ts'
import type { Credential, Model, Provider } from '../core/provider.ts'
import type { OfferedRoute } from '../core/route.ts'
import { isFromFile } from './authorizer.ts'
import type { Snapshot } from './snapshot.ts'

/** The snapshot to replace, and the configuration that it was built from. */
export interface PreviousSnapshot {
  readonly config: Config
  readonly snapshot: Snapshot
}

/** The parts of the previous snapshot whose configuration is unchanged. */
export interface UnchangedParts {
  /** The provider; undefined also when its credentials or its certificates have changed. */
  provider(entry: ProviderConfig, secrets: ProviderSecrets): Provider | undefined
  model(entry: ModelConfig, owner: ProviderConfig): Model | undefined
  route(entry: RouteConfig): OfferedRoute | undefined
}

/** The parts of a provider that come from the environment, the database and other files. */
export interface ProviderSecrets {
  readonly credentials: readonly Credential[]
  readonly ca: string | undefined
}

/** Finds the unchanged parts of the previous snapshot, so that access tokens stay in use. */
export function reuseUnchanged(previous: PreviousSnapshot | undefined): UnchangedParts {
  const providers = new Map<string, Provider>()
  const models = new Map<string, Model>()
  const routes = new Map<string, OfferedRoute>()
  if (previous) {
    const { config, snapshot } = previous
    const byName = new Map<string, Provider>(snapshot.providers.map((one) => [one.name, one]))
    const byId = new Map<string, Model>(snapshot.models().map((one) => [one.id, one]))
    for (const entry of config.providers) {
      const provider = byName.get(entry.name)
      if (provider) providers.set(serialize(entry), provider)
      for (const entryOfModel of entry.models) {
        const model = byId.get(entryOfModel.id)
        if (model) models.set(serialize(entry, entryOfModel), model)
      }
    }
    for (const entry of config.routes) routes.set(JSON.stringify(entry), snapshot.route(entry.id))
  }
  return {
    provider(entry, secrets) {
      const provider = providers.get(serialize(entry))
      return provider && isUnchanged(provider, secrets) ? provider : undefined
    },
    model: (entry, owner) => models.get(serialize(owner, entry)),
    route: (entry) => routes.get(JSON.stringify(entry)),
  }
}

/** The settings of a provider, or of one of its models, as a map key. Names are unique in a file. */
function serialize(provider: ProviderConfig, model?: ModelConfig): string {
  return JSON.stringify({ ...provider, models: model })
}

function isUnchanged({ usable, credentials, egress }: Provider, secrets: ProviderSecrets) {
  if (usable.some(isFromFile) || egress?.ca !== secrets.ca) return false
  return JSON.stringify(credentials) === JSON.stringify(secrets.credentials)
}
