import { expect, test } from 'vitest'
import { type ClientKey, type KeyedGateway, prompt, used } from '../support/keyed-gateway.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'
import { broken } from '../support/scripted-upstream.ts'
import { randomFrom } from '../support/seeded-random.ts'

/*
 * Switches against a plain model: 75 configurations of 40 requests each, over all APIs. The model knows what each
 * request was made of, and reads no body.
 */

const runs = 75
const requestsPerRun = 40

type Api = 'chat' | 'messages' | 'responses' | 'completions' | 'gemini' | 'embeddings' | 'rerank'
const forChat = ['chat', 'messages', 'responses', 'gemini'] as const
const apis = [...forChat, 'completions', 'embeddings', 'rerank'] as const

interface Sender {
  readonly key: string
  readonly group: string | undefined
  /** Undefined without a cap. */
  readonly used: number | undefined
}

/** What a request is made of. */
interface Facts {
  readonly api: Api
  readonly stream: boolean
  readonly has_tools: boolean
  readonly has_images: boolean
  readonly has_files: boolean
  readonly tokens: number
  readonly sender: number
  readonly metadata: Readonly<Record<string, string | number | boolean>>
}

interface When {
  readonly api?: readonly Api[]
  readonly stream?: boolean
  readonly has_tools?: boolean
  readonly has_images?: boolean
  readonly has_files?: boolean
  readonly above?: number
  readonly below?: number
  readonly key?: readonly number[]
  readonly group?: readonly number[]
  readonly team?: readonly (string | number | boolean)[]
  readonly tier?: string | number | boolean
  readonly used?: number
  /** Hours of a day, the second before the first over midnight. */
  readonly hours?: readonly [number, number]
  readonly days?: readonly number[]
}

interface Switch {
  readonly cases: readonly { readonly when: When; readonly target: string }[]
  readonly byDefault: string
}

interface Run {
  /** Each may choose those behind it. */
  readonly s: Switch
  readonly t: Switch
  readonly u: Switch
  /** When the requests are sent, in Unix seconds. */
  readonly at: number
  readonly requests: readonly Facts[]
}

/** Draws runs from a stream of numbers from 0 up to 1. */
class Draw {
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  run(): Run {
    return {
      s: this.#switch([...models, 't', 'u']),
      t: this.#switch([...models, 'u']),
      u: this.#switch(models),
      at: this.#number(1_764_000_000, 1_764_000_000 + 14 * 86_400),
      requests: Array.from({ length: requestsPerRun }, () => this.#request()),
    }
  }

  #number(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1))
  }

  #flag(): boolean {
    return this.#random() < 0.5
  }

  #one<Item>(items: readonly Item[]): Item {
    return items[this.#number(0, items.length - 1)] as Item
  }

  #some<Item>(items: readonly Item[], most: number): readonly Item[] {
    return [...new Set(Array.from({ length: this.#number(1, most) }, () => this.#one(items)))]
  }

  #request(): Facts {
    const api = this.#one(apis)
    const isChat = (forChat as readonly string[]).includes(api)
    const metadata = this.#flag()
      ? { [this.#one(['team', 'tier', 'valueOf'])]: this.#one(values), other: 1 }
      : {}
    return {
      api,
      // Not every API has everything.
      stream: (isChat || api === 'completions') && this.#flag(),
      has_tools: isChat && this.#flag(),
      has_images: (isChat || api === 'embeddings') && this.#flag(),
      has_files: isChat && this.#flag(),
      tokens: this.#number(8, 40),
      sender: this.#number(0, 3),
      metadata,
    }
  }

  #switch(targets: readonly string[]): Switch {
    const cases = Array.from({ length: this.#number(1, 5) }, () => ({
      when: Object.assign({}, ...Array.from({ length: this.#number(1, 3) }, () => this.#when())),
      target: this.#one(targets),
    }))
    return { cases, byDefault: this.#one(targets) }
  }

  #when(): When {
    const hours = [this.#number(0, 23), this.#number(0, 23)] as const
    return this.#one<() => When>([
      () => ({ api: this.#some(apis, 4) }),
      () => ({ stream: this.#flag() }),
      () => ({ has_tools: this.#flag() }),
      () => ({ has_images: this.#flag() }),
      () => ({ has_files: this.#flag() }),
      () => ({ above: this.#number(5, 30) }),
      () => ({ below: this.#number(32, 42) }),
      () => ({ key: this.#some([0, 1, 2, 3], 2) }),
      () => ({ group: this.#some([0, 1], 2) }),
      () => ({ team: this.#some(values, 3) }),
      () => ({ tier: this.#one(values) }),
      () => ({ used: this.#one([0, 0.3, 0.5, 0.9, 1]) }),
      () => ({ hours }),
      () => ({ hours, days: this.#some([0, 1, 2, 3, 4, 5, 6], 5) }),
    ])()
  }
}

const values = ['x', 'y', '3', 3, true] as const
const models = ['a', 'b', 'c', 'd'] as const

const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const pad = (hour: number) => `${String(hour).padStart(2, '0')}:00`

function writeWhen(given: When, senders: readonly Sender[], groups: readonly string[]): string {
  const { above, below, key, group, team, tier, used: spent, hours, days, ...plain } = given
  const json = JSON.stringify
  const tokens = [
    above === undefined ? '' : `above = ${above}`,
    below === undefined ? '' : `below = ${below}`,
  ]
  return [
    ...Object.entries(plain).map(([name, value]) => `${name} = ${json(value)}`),
    ...(tokens.join('') ? [`input_tokens = { ${tokens.filter(Boolean).join(', ')} }`] : []),
    ...(key ? [`key = ${json(key.map((at) => senders[at]?.key))}`] : []),
    ...(group ? [`group = ${json(group.map((at) => groups[at]))}`] : []),
    ...(team ? [`metadata.team = ${json(team)}`] : []),
    ...(tier === undefined ? [] : [`metadata.tier = ${json(tier)}`]),
    ...(spent === undefined ? [] : [`budget_used = { above = ${spent} }`]),
    ...(hours ? [`hours = ["${pad(hours[0])}-${pad(hours[1])}"]`] : []),
    ...(days ? [`days = ${json(days.map((day) => dayNames[day]))}`] : []),
  ].join(', ')
}

function writeConfig(run: Run, senders: readonly Sender[], groups: readonly string[]): string {
  const everything = 'capabilities = ["chat", "embed", "rerank"], modalities = ["text", "image"]'
  const providers = models.map(
    (id) => `
      [[providers]]
      name = "${id}"
      kind = "vllm"
      base_url = "https://${id}.test"
      models = [{ id = "${id}", ${everything} }]`,
  )
  const routes = (['s', 't', 'u'] as const).map((id) => {
    const cases = run[id].cases.map(
      (one) => `{ when = { ${writeWhen(one.when, senders, groups)} }, target = "${one.target}" }`,
    )
    return `
      [[routes]]
      id = "${id}"
      strategy = "switch"
      default = "${run[id].byDefault}"
      cases = [${cases.join(', ')}]`
  })
  return `[resilience]\nretry_max_attempts = 1\n${providers.join('')}${routes.join('')}`
}

/** The plain model: what the documentation says, and nothing else. */
function expectTarget(
  id: string,
  run: Run,
  facts: Facts,
  sender: Sender,
  groups: readonly string[],
  senders: readonly Sender[],
): string {
  const found = run[id as 's' | 't' | 'u'] as Switch | undefined
  if (!found) return id
  const held = found.cases.find(({ when: given }) => {
    if (given.api && !given.api.includes(facts.api)) return false
    for (const name of ['stream', 'has_tools', 'has_images', 'has_files'] as const) {
      if (given[name] !== undefined && given[name] !== facts[name]) return false
    }
    if (given.above !== undefined && facts.tokens <= given.above) return false
    if (given.below !== undefined && facts.tokens >= given.below) return false
    if (given.key && !given.key.some((at) => senders[at]?.key === sender.key)) return false
    if (given.group && !given.group.some((at) => groups[at] === sender.group)) return false
    const own = new Map(Object.entries(facts.metadata))
    if (given.team && !given.team.some((value) => own.get('team') === value)) return false
    if (given.tier !== undefined && own.get('tier') !== given.tier) return false
    if (given.used !== undefined && !((sender.used ?? -1) > given.used)) return false
    if (given.hours) {
      const [from, to] = given.hours
      const hour = (run.at / 3600) % 24
      const today = new Date(run.at * 1000).getUTCDay()
      const days = given.days ?? [0, 1, 2, 3, 4, 5, 6]
      const inside =
        from < to
          ? days.includes(today) && hour >= from && hour < to
          : (days.includes(today) && hour >= from) || (days.includes((today + 6) % 7) && hour < to)
      if (!inside) return false
    }
    return true
  })
  return expectTarget(held?.target ?? found.byDefault, run, facts, sender, groups, senders)
}

const png = 'data:image/png;base64,iVBORw0KGgo='

/** A request of an API with these facts. */
function write({
  api,
  stream,
  has_tools,
  has_images,
  has_files,
  tokens,
}: Facts): readonly [string, object] {
  const streamed = stream && { stream }
  switch (api) {
    case 'chat': {
      const parts = [
        ...(has_images ? [{ type: 'image_url', image_url: { url: png } }] : []),
        ...(has_files ? [{ type: 'file', file: { file_data: 'x' } }] : []),
      ]
      const tools = has_tools && { tools: [{ type: 'function', function: { name: 'f' } }] }
      const content = parts.length > 0 && { messages: [{ role: 'user', content: parts }] }
      return [
        '/v1/chat/completions',
        { ...prompt(tokens), ...content, ...tools, ...streamed, model: 's' },
      ]
    }
    case 'messages': {
      const content = [
        { type: 'text', text: 'x' },
        ...(has_images
          ? [
              {
                type: 'image',
                source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
              },
            ]
          : []),
        ...(has_files
          ? [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } }]
          : []),
      ]
      const tools = has_tools && { tools: [{ name: 'f', input_schema: { type: 'object' } }] }
      return [
        '/v1/messages',
        { model: 's', max_tokens: 5, messages: [{ role: 'user', content }], ...tools, ...streamed },
      ]
    }
    case 'responses': {
      const content = [
        { type: 'input_text', text: 'x' },
        ...(has_images ? [{ type: 'input_image', image_url: png }] : []),
        ...(has_files ? [{ type: 'input_file', file_data: 'x' }] : []),
      ]
      const tools = has_tools && { tools: [{ type: 'function', name: 'f', parameters: {} }] }
      return [
        '/v1/responses',
        { model: 's', input: [{ role: 'user', content }], ...tools, ...streamed },
      ]
    }
    case 'gemini': {
      const parts = [
        { text: 'x' },
        ...(has_images ? [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }] : []),
        ...(has_files
          ? [{ fileData: { mimeType: 'application/pdf', fileUri: 'https://a.test/x.pdf' } }]
          : []),
      ]
      const tools = has_tools && { tools: [{ functionDeclarations: [{ name: 'f' }] }] }
      const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
      return [`/v1beta/models/s:${method}`, { contents: [{ role: 'user', parts }], ...tools }]
    }
    case 'completions':
      return ['/v1/completions', { model: 's', prompt: 'x', ...streamed }]
    case 'embeddings': {
      const input = has_images ? [[{ type: 'image_url', image_url: { url: png } }]] : 'x'
      return ['/v1/embeddings', { model: 's', input }]
    }
    case 'rerank':
      return ['/v1/rerank', { model: 's', query: 'x', documents: ['y'] }]
  }
}

/** A clock whose wall can be set, as by an operator. */
class SetClock extends ManualClock {
  wall: number | undefined

  override now(): number {
    return this.wall ?? super.now()
  }
}

/** Creates four keys in two groups, with budgets that are spent in part. */
async function createSenders(gateway: KeyedGateway) {
  const groups = [await gateway.group({ budget_max: 2 }), await gateway.group()]
  const keys = [
    await gateway.key(),
    await gateway.key({ budget_max: 1 }),
    await gateway.key({ group_id: groups[0], budget_max: 10 }),
    await gateway.key({ group_id: groups[1] }),
  ]
  gateway.upstream.always(used(800_000))
  for (const key of keys) await gateway.ask(key, prompt())
  const parts = [undefined, 0.8, 0.4, undefined]
  const senders = keys.map(({ id }, at): Sender => {
    const group = [undefined, undefined, ...groups][at]
    return { key: id, group, used: parts[at] }
  })
  return { groups, keys, senders }
}

const priced = `
  [[providers]]
  name = "p"
  kind = "openai"
  api_key_env = "P_KEY"
  models = [{ id = "m", cost_per_1m_input = 1 }]
`

test('switches choose as a plain model does', async () => {
  const clock = new SetClock()
  const gateway = await reloadingGateway(priced, { clock })
  const { upstream, log, get, change } = gateway
  const { groups, keys, senders } = await createSenders(gateway)
  upstream.always(broken())
  const tokensOf = new Map<string, number>()
  const draw = new Draw(randomFrom(38))
  let compared = 0
  for (let at = 0; at < runs; at++) {
    const run = draw.run()
    const config = writeConfig(run, senders, groups)
    await change(config)
    clock.wall = run.at * 1000
    for (const facts of run.requests) {
      const sender = senders[facts.sender] as Sender
      const { headers } = keys[facts.sender] as ClientKey
      const [path, body] = write(facts)
      // What the gateway counts is the same for the same request to a model.
      const text = JSON.stringify(body)
      const question = { path: path.replace('/s:', '/a:'), body: text.replace('"s"', '"a"') }
      const tokens =
        tokensOf.get(path + text) ??
        JSON.parse(await gateway.gateway.explain(question)).estimate.prompt_tokens
      tokensOf.set(path + text, tokens)
      const metadata = JSON.stringify(facts.metadata)
      await get(path, {
        method: 'POST',
        body: text,
        headers: { ...headers, ...(metadata !== '{}' && { 'x-gateway-metadata': metadata }) },
      })
      const line = log.findLast(({ message }) => message === 'request')
      const target = expectTarget('s', run, { ...facts, tokens }, sender, groups, senders)
      expect(line?.fields['switched_to'], JSON.stringify({ facts, config })).toBe(target)
      compared++
    }
  }
  clock.wall = undefined
  expect(compared).toBe(runs * requestsPerRun)
})
