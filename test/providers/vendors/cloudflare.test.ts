import { expect, test } from 'vitest'
import { otters, rerank, rerankConfig } from '../../support/rerank.ts'
import { json } from '../../support/scripted-upstream.ts'
import { watchedGateway } from '../../support/watched-gateway.ts'

test.each([
  'https://api.cloudflare.com/client/v4/accounts/acc1',
  'https://api.cloudflare.com/client/v4/accounts/acc1/',
  'https://api.cloudflare.com/client/v4/accounts/acc1/ai',
  'https://api.cloudflare.com/client/v4/accounts/acc1/ai/v1',
])(
  'Cloudflare reranks beside its OpenAI layer, whichever form base_url has: %s',
  async (base_url) => {
    const gateway = await watchedGateway(
      rerankConfig({
        kind: 'cloudflare',
        provider: { base_url },
        model: { upstream_id: '@cf/baai/bge-reranker-base' },
      }),
    )
    gateway.upstream.always(json({}, { status: 400 }))
    await rerank(gateway, otters)
    expect(gateway.upstream.requests[0]?.url).toBe(
      'https://api.cloudflare.com/client/v4/accounts/acc1/ai/run/@cf/baai/bge-reranker-base',
    )
  },
)
