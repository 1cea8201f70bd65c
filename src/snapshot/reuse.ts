import type { Config, ModelConfig, ProviderConfig } from '../config/index.ts'
import type { Credential, Model, Provider } from '../core/provider.ts'
import { isFromFile } from './authorizer.ts'
import type { Snapshot } from './snapshot.ts'

/** A configuration and what was built of it. */
export interface Built {
  readonly config: Config
  readonly snapshot: Snapshot
}

/** What there was before, as far as the file says the same of it. */
export interface CarryOver {
  /** The provider, unless what it takes from elsewhere has changed. */
  provider(entry: ProviderConfig, found: Found): Provider | undefined
  model(entry: ModelConfig, owner: ProviderConfig): Model | undefined
}

/** What a provider takes from the environment, the database and other files. */
export interface Found {
  readonly credential: Credential
  readonly ca: string | undefined
}

/** Finds the unchanged parts of what serves, for the snapshot that is to take its place. */
export function carryOver(previous: Built | undefined): CarryOver {
  const providers = new Map<string, Provider>()
  const models = new Map<string, Model>()
  if (previous) {
    const { config, snapshot } = previous
    const byName = new Map<string, Provider>(snapshot.providers.map((one) => [one.name, one]))
    for (const entry of config.providers) {
      const provider = byName.get(entry.name)
      if (provider) providers.set(textOf(entry), provider)
      for (const model of entry.models) models.set(textOf(entry, model), snapshot.model(model.id))
    }
  }
  return {
    provider(entry, found) {
      const provider = providers.get(textOf(entry))
      return provider && isGood(provider, found) ? provider : undefined
    },
    model: (entry, owner) => models.get(textOf(owner, entry)),
  }
}

/** What the file says of a provider, or of one of its models. Names are unique in it. */
function textOf(provider: ProviderConfig, model?: ModelConfig): string {
  return JSON.stringify({ ...provider, models: model })
}

function isGood({ authorize, credential: held, egress }: Provider, found: Found): boolean {
  if (isFromFile(authorize) || egress?.ca !== found.ca) return false
  return JSON.stringify(held) === JSON.stringify(found.credential)
}
