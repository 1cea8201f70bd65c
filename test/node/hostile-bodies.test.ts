import { beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../adapters/node/process/system.ts'
import { createGateway, type Gateway } from '../../src/index.ts'
import { completion } from '../support/answers.ts'
import { type Door, doorPaths, type HostileBody, hostileBodies } from '../support/hostile-bodies.ts'
import { masterKey } from '../support/keyed-gateway.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { json } from '../support/scripted-upstream.ts'
import { measureMaxTurn } from './support/turns.ts'

/** A model whose upstream gets the bytes of its clients, and one whose requests are translated. */
const config = `
[auth]
enabled = true
[resilience]
retry_max_attempts = 1
circuit_failure_threshold = 1000000
[[providers]]
name = "verbatim"
kind = "vllm"
base_url = "http://verbatim.test"
[[providers.models]]
id = "m"
capabilities = ["chat", "embed", "rerank"]
modalities = ["text", "image"]
cost_per_1m_input = 1
[[providers]]
name = "translated"
kind = "google"
base_url = "http://translated.test"
[[providers.models]]
id = "t"
modalities = ["text", "image"]
cost_per_1m_input = 1
[[providers.models]]
id = "j"
upstream_id = "gemini-2.5-flash"
modalities = ["text", "image"]
cost_per_1m_input = 1
[[providers]]
name = "bedrock"
kind = "bedrock"
base_url = "http://bedrock.test"
api_key_env = "BEDROCK_KEY"
[[providers.models]]
id = "b"
upstream_id = "mistral.mistral-large-2407-v1:0"
modalities = ["text", "image"]
cost_per_1m_input = 1
`

/** In milliseconds. On an idle machine the longest takes 100; before there were limits, some took 3,000. */
const longestTurn = 400

let gateway: Gateway
let key: string

beforeAll(async () => {
  gateway = await createGateway({
    config,
    env: { GATEWAY_MASTER_KEY: masterKey, BEDROCK_KEY: 'key' },
    clock: systemClock,
    upstream: json(completion()),
    openStore: async () => new MemoryStore(),
  })
  const limits = { budget_max: 1_000_000, tpm_limit: 2_000_000_000 }
  const created = await send('admin', Buffer.from(JSON.stringify({ name: 'k', ...limits })))
  key = ((await created.json()) as { key: string }).key
  return () => gateway.close()
})

function send(door: Door, bytes: Uint8Array): Promise<Response> {
  const request = new Request(`http://gateway.test${doorPaths[door]}`, {
    method: 'POST',
    body: bytes as BodyInit,
    headers: { authorization: `Bearer ${door === 'admin' ? masterKey : key}` },
  })
  return gateway.fetch(request)
}

async function expectHarmless(door: Door, bytes: Uint8Array): Promise<void> {
  let status = 0
  const turn = await measureMaxTurn(async () => {
    const response = await send(door, bytes)
    status = response.status
    await response.text()
  })
  expect(status).not.toBe(500)
  expect(turn).toBeLessThan(longestTurn)
  expect(gateway.buffers.bytes).toBe(0)
}

const named = ({ door, name, body }: HostileBody) => [door, name, body] as const

describe('no body blocks the event loop or causes an internal error', () => {
  test.each(hostileBodies.map(named))('%s: %s', async (door, _, body) => {
    await expectHarmless(door, body())
  })

  const chat = hostileBodies.filter(({ door }) => door === 'chat')

  const translated = chat.flatMap(({ name, body }) =>
    ['t', 'j', 'b'].map((model) => [name, model, body] as const),
  )

  test.each(translated)('%s for the translated model %s', async (_, model, body) => {
    const bytes = body()
    bytes[bytes.indexOf(0x6d, bytes.indexOf(0x3a))] = model.charCodeAt(0)
    await expectHarmless('chat', bytes)
  })
})
