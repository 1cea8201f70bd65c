export {
  ConfigDocument,
  type ConfigDocumentOptions,
  type Judgement,
  type Reload,
} from './document.ts'
export { type ListenAddress, listenAddress } from './listen-address.ts'
export { type LoadedConfig, type LoadResult, loadConfig } from './load.ts'
export { type Problem, renderProblem } from './problem.ts'
export type { ModelConfig, ProviderConfig } from './provider-schema.ts'
export { keepRestartOnly } from './restart-only.ts'
export { type Config, webhookSettings } from './schema.ts'
export { isTable, type Table } from './toml.ts'
