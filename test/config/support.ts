import { type Config, type LoadResult, loadConfig, renderProblem } from '../../src/config/index.ts'
import type { Environment } from '../../src/core/ports.ts'
import type { KindFacts } from '../../src/core/provider-kind.ts'

/** Kinds that together have every fact that the rules check. */
export const kinds: readonly KindFacts[] = [
  {
    name: 'openai',
    capabilities: ['chat', 'embed'],
    defaultBaseUrl: 'https://openai.test/v1',
    ownSettings: ['stream_usage'],
  },
  { name: 'vllm', capabilities: ['chat', 'embed', 'rerank'], ownSettings: ['stream_usage'] },
  { name: 'azure', capabilities: ['chat', 'embed'], ownSettings: ['api_version', 'stream_usage'] },
  {
    name: 'google',
    aliases: ['gemini'],
    capabilities: ['chat', 'embed'],
    defaultBaseUrl: 'https://google.test',
    ownSettings: ['remote_images'],
  },
  {
    name: 'vertex_ai',
    capabilities: ['chat', 'embed'],
    acceptsRegion: true,
    ownSettings: ['remote_images'],
  },
  {
    name: 'bedrock',
    acceptsRegion: true,
    capabilities: ['chat', 'embed', 'rerank'],
    defaultBaseUrl: 'https://bedrock.test',
  },
  {
    name: 'groq',
    capabilities: ['chat', 'embed'],
    embedNeedsBaseUrl: true,
    defaultBaseUrl: 'https://groq.test',
  },
  { name: 'jina', capabilities: ['embed', 'rerank'], defaultBaseUrl: 'https://jina.test' },
  {
    name: 'demo',
    capabilities: ['chat', 'embed', 'rerank'],
    defaultBaseUrl: 'http://demo.test',
    keyless: true,
    ownSettings: ['latency_ms', 'tokens_per_second', 'failure_rate'],
  },
]

export function load(
  text: string,
  env: Environment = {},
  known: readonly KindFacts[] = kinds,
): Promise<LoadResult> {
  return loadConfig({ text, env, kinds: known })
}

/** Renders the problems of a text; none when it is valid. */
export async function listProblems(
  text: string,
  env?: Environment,
  known?: readonly KindFacts[],
): Promise<readonly string[]> {
  const result = await load(text, env, known)
  return result.ok ? [] : result.problems.map(renderProblem)
}

/** Loads a text that must be valid. */
export async function loadValid(text: string, env?: Environment): Promise<Config> {
  const result = await load(text, env)
  if (!result.ok) throw new Error(result.problems.map(renderProblem).join('\n'))
  return result.config
}

/** Returns the warnings about a text that must be valid. */
export async function listWarnings(text: string): Promise<readonly string[]> {
  const result = await load(text)
  if (!result.ok) throw new Error(result.problems.map(renderProblem).join('\n'))
  return result.warnings
}

/** Writes a file with one provider of kind `openai` and these models, each with the lines below its id. */
export function fileWithModels(models: Readonly<Record<string, string>>): string {
  const tables = Object.entries(models).map(
    ([id, lines]) => `[[providers.models]]\nid = "${id}"\n${lines}\n`,
  )
  return `[[providers]]\nname = "main"\nkind = "openai"\n${tables.join('')}`
}
