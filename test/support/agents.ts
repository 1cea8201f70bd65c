import type { UpstreamRequest } from '../../src/index.ts'
import { blake3Hex } from '../../src/wire/digest.ts'
import { completion } from './answers.ts'
import { testGateway } from './gateway.ts'
import { json, type Responder } from './scripted-upstream.ts'
import { randomFrom } from './seeded-random.ts'

export interface AgentsOptions {
  readonly sessions: number
  readonly turns: number
  readonly targets: number
  /** Keys of each target; each is an account with a cache of its own. */
  readonly keys: number
  /** The setting of the route and of its providers, in TOML. */
  readonly affinity: 'true' | 'false' | '"prefix"'
  /** Requests name their session. */
  readonly namesSession: boolean
  /** Shares of calls that fail with 503, and with a 429 that parks the key. */
  readonly failures: number
  readonly limits: number
  /** One target answers nothing but 503 in the third fifth of the run. */
  readonly hasOutage: boolean
  readonly seed: number
}

export interface AgentsResult {
  /** The part of all served prompt tokens that an upstream read from its cache. */
  readonly cachedShare: number
  /** Served requests by target and key. */
  readonly load: ReadonlyMap<string, number>
  readonly served: number
  readonly failed: number
}

/** Vendors keep a prompt for five minutes after its last use, in blocks from 1,024 tokens. */
const cacheLife = 300_000
const minCachedTokens = 1024

/**
 * Runs sessions of agents through a gateway, and counts what upstreams that cache prefixes, as vendors do, read from
 * their caches. Each turn sends the whole conversation again, with the last answer and another message.
 */
export async function simulateAgents(options: AgentsOptions): Promise<AgentsResult> {
  const { sessions, turns, targets, keys, seed } = options
  const random = randomFrom(seed)
  const names = Array.from({ length: targets }, (_, at) => `t${at}`)
  const env = Object.fromEntries(
    names.flatMap((name) => listKeys(name, keys).map((key) => [key, `secret-of-${key}`])),
  )
  const gateway = await testGateway(writeConfig(names, options), { random, env })
  const caches = new Map<string, PromptCache>()
  const load = new Map<string, number>()
  let round = 0
  const isOut = (name: string) =>
    options.hasOutage && name === names[0] && Math.floor((5 * round) / turns) === 2
  gateway.upstream.always((call) => {
    const name = new URL(call.url).hostname.split('.')[0] ?? ''
    const key = `${name} ${call.headers['authorization']?.split('secret-of-')[1]}`
    if (isOut(name) || random() < options.failures) return failing(call)
    if (random() < options.limits) return limiting(call)
    const cache = caches.get(key) ?? new PromptCache()
    caches.set(key, cache)
    load.set(key, (load.get(key) ?? 0) + 1)
    return answer(cache, gateway.clock.elapsed())(call)
  })
  const counts = { prompt: 0, cached: 0, served: 0, failed: 0 }
  const conversations = Array.from({ length: sessions }, (_, at) => [
    message('system', `agent ${at % 5}`, 1500),
    message('user', `task ${at}`, 400 + Math.floor(random() * 400)),
  ])
  for (; round < turns; round++) {
    // The sessions go on in another order in each round, all within two minutes.
    for (const at of shuffle(conversations.length, random)) {
      await gateway.clock.advance(120_000 / sessions)
      const messages = conversations[at] ?? []
      const headers = options.namesSession ? { 'x-gateway-session': `session ${at}` } : {}
      const response = await gateway.chat({ model: 'agents', messages }, { headers })
      const body = await response.json()
      if (response.status === 200) {
        const { prompt_tokens: prompt, prompt_tokens_details: details } = body.usage
        counts.prompt += prompt
        counts.cached += details.cached_tokens
        counts.served++
      } else counts.failed++
      const turn = `${at} ${round}`
      messages.push(message('assistant', `answer ${turn}`, 150), message('user', turn, 350))
    }
  }
  await gateway.gateway.close()
  const { prompt, cached, served, failed } = counts
  return { cachedShare: cached / prompt, load, served, failed }
}

/** The prefixes that one account of a vendor has seen. */
class PromptCache {
  readonly #seen = new Map<string, number>()

  /** Returns the tokens of the longest prefix that is in the cache, and puts all prefixes of the prompt there. */
  read(messages: readonly Message[], now: number): { prompt: number; cached: number } {
    let prompt = 0
    let cached = 0
    let digest = ''
    for (const { role, content } of messages) {
      digest = blake3Hex(JSON.stringify([digest, role, content]))
      prompt += Math.ceil(content.length / 4)
      const usedAt = this.#seen.get(digest)
      if (usedAt !== undefined && now - usedAt < cacheLife) cached = prompt
      this.#seen.set(digest, now)
    }
    return { prompt, cached: cached < minCachedTokens ? 0 : cached }
  }
}

interface Message {
  readonly role: string
  readonly content: string
}

function message(role: string, text: string, tokens: number): Message {
  return { role, content: text.padEnd(4 * tokens, '.') }
}

function answer(cache: PromptCache, now: number): Responder {
  return (call: UpstreamRequest) => {
    const { messages } = JSON.parse(new TextDecoder().decode(call.body))
    const { prompt, cached } = cache.read(messages, now)
    const usage = {
      prompt_tokens: prompt,
      completion_tokens: 150,
      total_tokens: prompt + 150,
      prompt_tokens_details: { cached_tokens: cached },
    }
    return json(completion('Hi', { usage }))(call)
  }
}

const failing = json({ error: { message: 'overloaded' } }, { status: 503 })
const limiting = json(
  { error: { message: 'slow down' } },
  { status: 429, headers: { 'retry-after': '20' } },
)

function listKeys(name: string, keys: number): string[] {
  return Array.from({ length: keys }, (_, at) => `${name}_KEY_${at}`)
}

function writeConfig(names: readonly string[], { keys, affinity }: AgentsOptions): string {
  const providers = names.map(
    (name) => `
      [[providers]]
      name = "${name}"
      kind = "openai"
      base_url = "https://${name}.test"
      api_key_envs = ${JSON.stringify(listKeys(name, keys))}
      affinity = ${affinity}
      models = [{ id = "model-${name}" }]`,
  )
  const targets = names.map((name) => `{ model = "model-${name}" }`)
  return `[resilience]\nretry_max_attempts = 1\n${providers.join('')}
    [[routes]]
    id = "agents"
    strategy = "weighted"
    affinity = ${affinity}
    targets = [${targets.join(', ')}]`
}

function shuffle(length: number, random: () => number): number[] {
  const order = Array.from({ length }, (_, at) => at)
  for (let at = length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    // Both are in the list.
    ;[order[at], order[other]] = [order[other] as number, order[at] as number]
  }
  return order
}
