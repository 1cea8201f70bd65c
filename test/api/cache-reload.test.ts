import { expect, test } from 'vitest'
import { cachedProvider, cacheHeaders, cacheOn } from '../support/cached.ts'
import { pricedProvider, prompt, used } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'

/** The cached provider with a second model, which backs the first. */
const chain = `${cachedProvider()}fallbacks = ["n"]
[[providers.models]]
id = "n"
cache = true
`

test.each([
  ['the model', chain.replace('cost_per_1m_output = 2', 'cost_per_1m_output = 3')],
  ['its provider', chain.replace('kind = "openai"', 'kind = "openai"\nstrict = true')],
  ['its fallback', `${chain}max_output_tokens = 5\n`],
])('a reload that changes %s removes the answers of the model', async (_, next) => {
  const { key, upstream, ask, change, count } = await reloadingGateway(chain)
  const held = await key()
  upstream.always(used(8, 1))
  await ask(held, prompt())
  await change(next)
  expect(await count('gateway_cache_entries')).toBe(0)
  expect(cacheHeaders(await ask(held, prompt()))).toEqual(['miss'])
})

test('a reload keeps the answers of models that it does not change', async () => {
  const { key, upstream, ask, change, count } = await reloadingGateway(chain)
  const held = await key()
  upstream.always(used(8, 1))
  await ask(held, prompt())
  await ask(held, { ...prompt(), model: 'n' })
  await change(chain.replace('cost_per_1m_output = 2', 'cost_per_1m_output = 3'))
  expect(await count('gateway_cache_entries')).toBe(1)
  expect(cacheHeaders(await ask(held, { ...prompt(), model: 'n' }))).toEqual(['hit', '0'])
})

test('a reload shortens the time for which answers are served', async () => {
  const { key, upstream, ask, change, clock } = await reloadingGateway(cachedProvider())
  const held = await key()
  upstream.always(used(8, 1))
  await ask(held, prompt())
  await clock.advance(10_000)
  await change(cachedProvider('ttl_seconds = 10'))
  expect(cacheHeaders(await ask(held, prompt()))).toEqual(['miss'])
})

test('a reload turns the cache off and on, and each empties it', async () => {
  const { key, upstream, ask, change, count } = await reloadingGateway(cachedProvider())
  const held = await key()
  upstream.always(used(8, 1))
  await ask(held, prompt())
  await change(pricedProvider)
  expect(await count('gateway_cache_bytes')).toBe(0)
  expect(cacheHeaders(await ask(held, prompt()))).toEqual([null])
  await change(cachedProvider())
  expect(cacheHeaders(await ask(held, prompt()))).toEqual(['miss'])
  await change(cachedProvider('max_bytes = 100000'))
  expect(await count('gateway_cache_entries')).toBe(0)
})

test('a request that a reload overtakes leaves no answer behind', async () => {
  const { key, upstream, ask, change, count } = await reloadingGateway(cachedProvider())
  const held = await key()
  let open = () => {}
  upstream.next(async (request) => {
    await new Promise<void>((resolve) => {
      open = resolve
    })
    return used(8, 1)(request)
  })
  const running = ask(held, prompt())
  await settled()
  await change(cachedProvider().replace('output = 2', 'output = 3'))
  open()
  expect((await running).status).toBe(200)
  expect(await count('gateway_cache_entries')).toBe(0)
})

test('answers never take more than max_bytes, and those used least recently go first', async () => {
  const { key, upstream, ask, count } = await reloadingGateway(cachedProvider('max_bytes = 3000'))
  const held = await key()
  upstream.always(used(8, 1))
  for (const tokens of [8, 9, 8, 10]) {
    await ask(held, prompt(tokens))
    expect(await count('gateway_cache_bytes')).toBeLessThanOrEqual(3000)
  }
  expect(await count('gateway_cache_evictions_total')).toBe(1)
  expect(cacheHeaders(await ask(held, prompt(8)))).toEqual(['hit', '0'])
  expect(cacheHeaders(await ask(held, prompt(9)))).toEqual(['miss'])
})

test('a model without the cache keeps nothing while another has it', async () => {
  const { key, upstream, ask, count } = await reloadingGateway(`${cacheOn()}${pricedProvider}
[[providers.models]]
id = "n"
cache = true
`)
  const held = await key()
  upstream.always(used(8, 1))
  await ask(held, prompt())
  expect(await count('gateway_cache_entries')).toBe(0)
})
