export { type LoadResult, loadConfig } from './load.ts'
export { type Problem, renderProblem } from './problem.ts'
export type { ModelConfig, ProviderConfig } from './provider-schema.ts'
export type { Config } from './schema.ts'
