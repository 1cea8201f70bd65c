import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/index.ts'
import { kinds } from '../../src/providers/index.ts'
import { postEmbeddings } from '../support/embed-kinds.ts'
import { testGateway } from '../support/gateway.ts'
import { json } from '../support/scripted-upstream.ts'

const page = readFileSync(new URL('../../docs/embeddings.md', import.meta.url), 'utf8')
const [, section = ''] = /^## Retrieval intent$([^]*?)^## /m.exec(page) ?? []
const configs = [...section.matchAll(/^```toml\n([^]*?)^```$/gm)].map(([, text = '']) => text)

test('the configurations are valid and give no warnings', async () => {
  expect(configs).toHaveLength(2)
  for (const text of configs) {
    expect(await loadConfig({ text, env: {}, kinds })).toMatchObject({ ok: true, warnings: [] })
  }
})

test('the example reaches the vendor with its intent', async () => {
  const [, example = ''] = /^```json\n([^]*?)^```$/m.exec(section) ?? []
  const gateway = await testGateway(configs[0] ?? '', { env: { VOYAGE_API_KEY: 'canary' } })
  gateway.upstream.always(json({}, { status: 400 }))
  await postEmbeddings(gateway, example)
  expect(gateway.upstream.body(0)).toEqual({
    model: 'voyage-3-large',
    input: ['Who owns the red fox?'],
    input_type: 'query',
  })
})

test('the models of one upstream id have their own intents', async () => {
  const gateway = await testGateway(configs[1] ?? '', { env: { GEMINI_API_KEY: 'canary' } })
  gateway.upstream.always(json({}, { status: 400 }))
  const readTasks = async (model: string) => {
    gateway.upstream.requests.length = 0
    await postEmbeddings(gateway, { model, input: Array.from({ length: 51 }, () => 'a') })
    // The body of the vendor's batch.
    const bodies = gateway.upstream.requests.map(
      (_, call) => gateway.upstream.body(call) as { requests: { taskType: string }[] },
    )
    return bodies.map(({ requests }) => [requests.length, requests[0]?.taskType])
  }
  expect(await readTasks('documents')).toEqual([[51, 'RETRIEVAL_DOCUMENT']])
  expect(await readTasks('questions')).toEqual([
    [50, 'RETRIEVAL_QUERY'],
    [1, 'RETRIEVAL_QUERY'],
  ])
})
