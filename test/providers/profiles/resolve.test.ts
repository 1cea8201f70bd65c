import { describe, expect, test } from 'vitest'
import type { ProfileSetting } from '../../../src/core/profile.ts'
import { type ResolvedProfile, resolveProfile } from '../../../src/providers/profiles/index.ts'
import { testGateway } from '../../support/gateway.ts'

interface Upstream {
  readonly kind: string
  readonly baseUrl?: string
  readonly upstreamId?: string
  readonly settings?: readonly ProfileSetting[]
}

function resolve({
  kind,
  baseUrl,
  upstreamId = 'model-1',
  settings = [],
}: Upstream): ResolvedProfile {
  return resolveProfile({
    kind,
    baseUrl: baseUrl ?? 'https://vendor.example/v1',
    hasCustomBaseUrl: baseUrl !== undefined,
    upstreamId,
    takesEffort: false,
    settings,
  })
}

describe('a profile', () => {
  test.each([
    [
      { kind: 'deepseek', upstreamId: 'deepseek-chat' },
      'deepseek (kind), deepseek-4 (upstream id)',
    ],
    [{ kind: 'openai', baseUrl: 'https://api.moonshot.cn/v1' }, 'moonshot (host of base_url)'],
    [{ kind: 'openai', baseUrl: 'https://gw.example/moonshot.cn' }, 'unknown upstream'],
    [{ kind: 'openai', baseUrl: 'https://not-z.ai.example/v1' }, 'unknown upstream'],
    [{ kind: 'vllm', upstreamId: 'Qwen/Qwen3-8B' }, 'vllm (kind), qwen (upstream id)'],
    [{ kind: 'vllm', upstreamId: 'x/y', settings: ['kimi-k3'] }, 'kimi-k3 (setting)'],
    [{ kind: 'deepseek', settings: ['none'] }, 'none (setting)'],
  ])('of %j comes from: %s', (upstream, origin) => {
    expect(resolve(upstream).origin).toBe(origin)
  })

  test('has the names of fields of its platform, and the template of its family', () => {
    const { profile } = resolve({ kind: 'novita', upstreamId: 'moonshotai/kimi-k3' })
    expect(profile).toMatchObject({
      reasoningSwitch: 'enable_thinking',
      schema: 'moonshot',
      reasoningHistory: 'all',
    })
  })

  test('changes by settings, of which that of the model wins', () => {
    const provider = { base: 'mistral', fields: { streamEnd: 'finish' as const } }
    const model = { base: undefined, fields: { toolCallIds: 'any' as const } }
    const { profile } = resolve({ kind: 'vllm', settings: [provider, model] })
    expect(profile).toMatchObject({
      streamEnd: 'finish',
      toolCallIds: 'any',
      userAfterTool: 'assistant',
    })
    expect(resolve({ kind: 'vllm', settings: [provider, 'none'] }).profile.streamEnd).toBe('done')
  })

  test.each([
    ['deepseek-r1-distill-qwen-7b', 'distilled'],
    ['accounts/fireworks/models/kimi-k2p6', 'kimi'],
    ['zai-org/GLM-5.3', 'glm'],
    ['gpt-oss:20b', 'harmony'],
    ['o3-mini', 'openai'],
    ['gpt-5-chat-latest', 'openai'],
    ['mistralai/Devstral-Small', 'mistral'],
    ['qwq-32b', 'qwen'],
    ['llama-3.3-70b', undefined],
    ['groq-compound', undefined],
  ])('of %s belongs to the lineage %s', (upstreamId, lineage) => {
    expect(resolve({ kind: 'vllm', upstreamId }).lineage).toBe(lineage)
  })
})

test('an address that a kind is made for is a warning that names the kind', async () => {
  const config = (address: string) =>
    `[[providers]]\nname = "p"\nkind = "openai"\nbase_url = "${address}"\nmodels = [{ id = "m" }]`
  const warnings = async (address: string) => {
    const { gateway } = await testGateway(config(address))
    return gateway.overview.warnings
  }
  expect(await warnings('https://api.z.ai/api/paas/v4')).toContain(
    'provider p: kind = "zai" is made for this address',
  )
  expect(await warnings('http://gpu.internal/v1')).toEqual([])
})
