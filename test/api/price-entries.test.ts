import { describe, expect, test } from 'vitest'
import { chunk, completion, done, hello, makeChunk, role, stop } from '../support/answers.ts'
import { keyedGateway, pricedProvider, prompt, readSpend } from '../support/keyed-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { streamed } from '../support/stream-client.ts'

/*
 * `[[providers.models.prices]]`: prices by the size of the prompt, the service tier, the region and the time.
 */

const entry = (text: string) => `[[providers.models.prices]]\n${text}\n`
const step = entry('above_input = 100\ncost_per_1m_input = 2\ncost_per_1m_output = 3')
const tiers = entry('tier = "priority"\nmultiply = 2') + entry('tier = "flex"\nmultiply = 0.5')
const counts = (prompt_tokens: number, completion_tokens = 10) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
})
const answer = (promptTokens: number, more: object = {}) =>
  json(completion('Hi', { usage: counts(promptTokens), ...more }))

describe('the price of an answer', () => {
  test('is that of its size and of the tier that served, and the answer and the row say so', async () => {
    const gateway = await keyedGateway(pricedProvider + step + tiers)
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(answer(101, { service_tier: 'priority' }))
    const { headers } = await gateway.ask(key, prompt(8, { service_tier: 'flex' }))
    expect(headers.get('x-gateway-price')).toBe('above 100, priority x2')
    expect(headers.get('x-gateway-cost')).toBe('0.000464')
    expect(await gateway.rows()).toMatchObject([
      {
        cost: (101n * 2n + 10n * 3n) * 2n * 1_000n,
        tier: 'priority',
        price: 'above 100, priority x2',
      },
    ])
    expect(await readSpend(gateway, key.id)).toBe(0.000464)
  })

  test('is the base for a short prompt of the standard tier', async () => {
    const gateway = await keyedGateway(pricedProvider + step + tiers)
    const key = await gateway.key()
    gateway.upstream.next(answer(100, { service_tier: 'default' }))
    const { headers } = await gateway.ask(key, prompt())
    expect(headers.get('x-gateway-price')).toBeNull()
    expect(await gateway.rows()).toMatchObject([{ cost: 120_000n, tier: 'standard', price: null }])
  })

  test('is that of the asked tier where the answer names none, else of the first automatic one', async () => {
    const automatic = pricedProvider.replace('[[providers.models]]', 'auto_tier = ["flex"]\n$&')
    const gateway = await keyedGateway(automatic + tiers)
    const key = await gateway.key()
    for (const asked of ['priority', 'default', 'auto', undefined]) {
      gateway.upstream.next(answer(100))
      await gateway.ask(key, prompt(8, { service_tier: asked }))
    }
    expect(await gateway.rows()).toMatchObject([
      { cost: 240_000n, tier: 'priority' },
      { cost: 120_000n, tier: 'standard' },
      { cost: 60_000n, tier: 'flex' },
      { cost: 60_000n, tier: 'flex' },
    ])
  })

  test('is found for streams too', async () => {
    const gateway = await keyedGateway(pricedProvider + step + tiers)
    const key = await gateway.key()
    const usage = makeChunk({ choices: [], usage: counts(200), service_tier: 'flex' })
    gateway.upstream.next(stream([role, hello, stop, usage, done]))
    await (await gateway.chat(streamed(), { headers: key.headers })).text()
    expect(await gateway.rows()).toMatchObject([
      { cost: (200n * 2n + 10n * 3n) * 500n, price: 'above 100, flex x0.5' },
    ])
  })

  test('is that of the tier of an earlier chunk where the stream fails', async () => {
    const gateway = await keyedGateway(
      `[resilience]\nretry_max_attempts = 1\n${pricedProvider}${tiers}`,
    )
    const key = await gateway.key()
    gateway.upstream.next(
      stream([
        chunk({ role: 'assistant' }, { service_tier: 'priority' }),
        chunk({}, { usage: counts(100) }, 'error') + done,
      ]),
    )
    await (await gateway.chat({ ...prompt(), stream: true }, { headers: key.headers })).text()
    expect(await gateway.rows()).toMatchObject([{ tier: 'priority', cost: 240_000n }])
  })

  test('is that of when the call was sent, not of when it ended', async () => {
    // The manual clock starts at 2025-11-24 16:00 UTC.
    const peak = entry('hours = ["15:00-16:01"]\nmultiply = 3')
    const gateway = await keyedGateway(pricedProvider + peak)
    const key = await gateway.key()
    gateway.upstream.next(async (request) => {
      await gateway.clock.advance(90_000)
      return answer(100)(request)
    })
    await gateway.ask(key, prompt())
    gateway.upstream.next(answer(100))
    await gateway.ask(key, prompt())
    expect(await gateway.rows()).toMatchObject([{ cost: 360_000n }, { cost: 120_000n }])
  })

  test('has the factor of the provider, with and without entries', async () => {
    const dearer = pricedProvider.replace('[[providers.models]]', 'price_multiplier = 1.1\n$&')
    for (const config of [dearer, dearer + tiers]) {
      const gateway = await keyedGateway(config)
      const key = await gateway.key()
      gateway.upstream.next(answer(100))
      await gateway.ask(key, prompt())
      expect(await gateway.rows()).toMatchObject([{ cost: 132_000n }])
    }
  })

  test('prices reasoning and requests apart', async () => {
    const own = 'cost_per_1m_reasoning = 7\ncost_per_1k_requests = 5\n'
    const gateway = await keyedGateway(pricedProvider + own)
    const key = await gateway.key()
    const usage = { ...counts(100), completion_tokens_details: { reasoning_tokens: 4 } }
    gateway.upstream.next(json(completion('Hi', { usage })))
    await gateway.ask(key, prompt())
    const tokens = (100n + 6n * 2n + 4n * 7n) * 1_000n
    expect(await gateway.rows()).toMatchObject([{ cost: tokens + 5_000_000n }])
  })

  test('of each run of Claude is that of its own size, and of its own model', async () => {
    const claude = pricedProvider.replace('kind = "openai"', 'kind = "anthropic"')
    const other =
      '[[providers.models]]\nid = "o"\nupstream_id = "upstream-o"\ncost_per_1m_input = 9\n'
    const gateway = await keyedGateway(`${claude}${step}${other}`)
    const key = await gateway.key()
    const run = (input_tokens: number, model?: string) => ({
      input_tokens,
      output_tokens: 10,
      model,
    })
    const iterations = [run(100), run(101), run(50, 'upstream-o')]
    const usage = { input_tokens: 101, output_tokens: 10, iterations }
    gateway.upstream.next(json({ content: [{ type: 'text', text: 'Hi' }], usage }))
    await gateway.ask(key, prompt())
    expect(await gateway.rows()).toMatchObject([
      {
        cost: (100n + 10n * 2n + 101n * 2n + 10n * 3n + 50n * 9n) * 1_000n,
        costSource: 'calculated',
        price: 'above 100',
      },
    ])
  })

  test('of Command is that of its billed units', async () => {
    const command = pricedProvider.replace('kind = "openai"', 'kind = "cohere"')
    const gateway = await keyedGateway(command)
    const key = await gateway.key()
    const usage = {
      tokens: { input_tokens: 500, output_tokens: 30 },
      billed_units: { input_tokens: 100, output_tokens: 10 },
    }
    const message = { content: [{ type: 'text', text: 'Hi' }] }
    gateway.upstream.next(json({ id: 'c', finish_reason: 'COMPLETE', message, usage }))
    await gateway.ask(key, prompt())
    expect(await gateway.rows()).toMatchObject([{ cost: 120_000n, tokensIn: 500, tokensOut: 30 }])
  })
})

describe('a reservation', () => {
  async function reservation(config: string, body: object, path = '/v1/chat/completions') {
    const gateway = await keyedGateway(config)
    const { body: explained } = await gateway.admin('POST', '/admin/explain', { path, body })
    const { links } = explained as { links: readonly { price: string | null }[] }
    return [explained['reservation'], links[0]?.price]
  }
  const bounded = { max_tokens: 10 }

  test('counts the dearest step, tier, region and window that the request can reach', async () => {
    const all = pricedProvider + step + tiers
    expect(await reservation(all, prompt(80, bounded))).toEqual([0.0001, null])
    expect(await reservation(all, prompt(81, bounded))).toEqual([0.000192, 'above 100'])
    const priority = { ...bounded, service_tier: 'priority' }
    expect(await reservation(all, prompt(80, priority))).toEqual([0.0002, 'priority x2'])
    const flex = { ...bounded, service_tier: 'flex' }
    expect(await reservation(all, prompt(80, flex))).toEqual([0.0001, null])
    const soon = entry('hours = ["16:05-17:00"]\nmultiply = 3')
    expect(await reservation(pricedProvider + soon, prompt(80, bounded))).toEqual([
      0.0003,
      '16:05-17:00 x3',
    ])
    const geo = entry('geo = "us"\nmultiply = 1.1')
    const claude = pricedProvider.replace('kind = "openai"', 'kind = "anthropic"') + geo
    const asked = { ...bounded, inference_geo: 'us' }
    const path = '/v1/messages'
    expect(await reservation(claude, prompt(80, asked), path)).toEqual([0.00011, 'geo us x1.1'])
    const fast = { ...bounded, extra_body: { speed: 'fast' } }
    expect(await reservation(all, prompt(80, fast))).toEqual([0.0002, 'priority x2'])
  })

  test('counts writes to a cache for twelve hours where the request may ask for them', async () => {
    const config = `${pricedProvider}cost_per_1m_cache_write_12h = 2.5\n`
    const read = async (more: object) =>
      (await reservation(config, prompt(80, { ...bounded, ...more })))[0]
    expect(await read({})).toBe(0.0001)
    expect(await read({ prompt_cache_options: { ttl: '30m' } })).toBe(0.0001)
    expect(await read({ prompt_cache_options: { ttl: '12h' } })).toBe(0.00022)
    const gateway = await keyedGateway(config)
    const key = await gateway.key()
    const prompt_tokens_details = {
      cache_write_tokens: 60,
      cache_write_tokens_details: { ttl_12h_tokens: 50 },
    }
    gateway.upstream.next(
      json(completion('Hi', { usage: { ...counts(100), prompt_tokens_details } })),
    )
    await gateway.ask(key, prompt())
    const cost = (50n * 5n * 1_000n) / 2n + (50n + 20n) * 1_000n
    expect(await gateway.rows()).toMatchObject([{ cost, cacheWriteLongTokens: 50 }])
  })

  describe('of a model with prices of audio and images', () => {
    const spoken = `${pricedProvider}cost_per_1m_audio_input = 10\ncost_per_1m_audio_output = 50\n`
    const text = { ...bounded, modalities: ['text'] }
    const part = (content: object) => ({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(400) }, content] }],
    })

    test('counts them where the prompt may have them', async () => {
      const promptPrice = async (more: object, config = spoken) => {
        const gateway = await keyedGateway(config)
        const body = { ...prompt(80, text), ...more }
        const { body: explained } = await gateway.admin('POST', '/admin/explain', {
          path: '/v1/chat/completions',
          body,
        })
        const { links } = explained as { links: readonly { prompt_price: string }[] }
        return links[0]?.prompt_price
      }
      const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }
      expect(await promptPrice({})).toBe('cost_per_1m_input')
      expect(await promptPrice(part(audio))).toBe('cost_per_1m_audio_input')
      const film = { type: 'video_url', video_url: { url: 'https://a.example/b' } }
      expect(await promptPrice(part(film))).toBe('cost_per_1m_input')
      const drawn = spoken
        .replace('audio_input', 'image_input')
        .replace('id = "m"', 'id = "m"\nmodalities = ["text", "image"]')
      const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,UklGRg==' } }
      expect(await promptPrice(part(image), drawn)).toBe('cost_per_1m_image_input')
      expect(await promptPrice(part(audio), drawn)).toBe('cost_per_1m_input')
      const inEntry = pricedProvider + entry('tier = "priority"\ncost_per_1m_audio_input = 10')
      const priority = { service_tier: 'priority' }
      expect(await promptPrice(priority, inEntry)).toBe('cost_per_1m_input')
      expect(await promptPrice({ ...part(audio), ...priority }, inEntry)).toBe(
        'cost_per_1m_audio_input',
      )
    })

    test('counts them where they may be generated', async () => {
      const read = async (more: object) => (await reservation(spoken, prompt(80, more)))[0]
      expect(await read(text)).toBe(0.0001)
      expect(await read({ ...bounded, modalities: ['text', 'audio'] })).toBe(0.00058)
      expect(await read(bounded)).toBe(0.00058)
      expect(await read({ ...text, extra_body: { modalities: ['audio'] } })).toBe(0.00058)
    })

    test('and an answer is charged by them', async () => {
      const gateway = await keyedGateway(spoken)
      const key = await gateway.key()
      const details = {
        prompt_tokens_details: {
          audio_tokens: 60,
          cached_tokens: 20,
          cached_tokens_details: { audio_tokens: 20 },
        },
        completion_tokens_details: { audio_tokens: 4 },
      }
      gateway.upstream.next(json(completion('Hi', { usage: { ...counts(100), ...details } })))
      await gateway.ask(key, prompt())
      const cost = (40n * 10n + 20n + 40n + 4n * 50n + 6n * 2n) * 1_000n
      expect(await gateway.rows()).toMatchObject([
        {
          cost,
          audioTokensIn: 60,
          audioTokensOut: 4,
          bill: expect.stringContaining('"modalities":{"cachedAudioInput":20}'),
        },
      ])
    })
  })

  test('counts a prompt that the vendor has stored as the longest one', async () => {
    const config = `${pricedProvider}max_input_tokens = 1000\n`
    const body = { model: 'm', input: 'x'.repeat(80 * 4), max_output_tokens: 16 }
    const path = '/v1/responses'
    const [shown] = await reservation(config, body, path)
    expect(shown).toBeLessThan(0.0002)
    const stored = { ...body, previous_response_id: 'resp_1' }
    expect((await reservation(config, stored, path))[0]).toBe(0.001032)
    const named = { ...body, prompt: { id: 'pmpt_1' } }
    expect((await reservation(config, named, path))[0]).toBe(0.001032)
    const text = { model: 'm', prompt: 'x'.repeat(80 * 4), max_tokens: 16 }
    expect((await reservation(config, text, '/v1/completions'))[0]).toBeLessThan(0.0002)
  })

  describe('through the Gemini API', () => {
    const google = pricedProvider.replace('kind = "openai"', 'kind = "google"')
    const path = '/v1beta/models/m:generateContent'
    const gemini = (more: object) => ({
      contents: [{ role: 'user', parts: [{ text: 'x'.repeat(80 * 4) }] }],
      generationConfig: { maxOutputTokens: 10 },
      ...more,
    })

    test.each([
      ['serviceTier', pricedProvider],
      ['service_tier', pricedProvider],
      ['serviceTier', google],
      ['service_tier', google],
    ])('counts the tier that %s asks for', async (name, provider) => {
      const [base, none] = await reservation(provider + tiers, gemini({}), path)
      expect(none).toBe(null)
      const asked = await reservation(provider + tiers, gemini({ [name]: 'priority' }), path)
      expect(asked).toEqual([2 * Number(base), 'priority x2'])
      const unspecified = gemini({ [name]: 'unspecified' })
      const automatic = provider.replace('[[providers.models]]', 'auto_tier = ["priority"]\n$&')
      expect((await reservation(automatic + tiers, unspecified, path))[1]).toBe('priority x2')
    })

    test.each(['cachedContent', 'cached_content'])(
      'counts a prompt that %s names as the longest one',
      async (name) => {
        const config = `${google}max_input_tokens = 1000\n`
        const body = gemini({ [name]: 'cachedContents/a' })
        expect((await reservation(config, body, path))[0]).toBe(0.00102)
      },
    )
  })

  test.each<[string, object]>([
    ['google', { google: { cached_content: 'cachedContents/a' } }],
    ['extra_body', { extra_body: { cached_content: 'cachedContents/a' } }],
    ['extra_body.google', { extra_body: { google: { cached_content: 'cachedContents/a' } } }],
  ])('counts a stored prompt that is named in %s as the longest one', async (_, more) => {
    const google = pricedProvider.replace('kind = "openai"', 'kind = "google"')
    const config = `${google}max_input_tokens = 1000\n`
    const body = prompt(80, { ...bounded, ...more })
    expect((await reservation(config, body))[0]).toBe(0.00102)
  })

  test('counts the last of a repeated member, also when its name has escapes', async () => {
    const gateway = await keyedGateway(pricedProvider + tiers)
    const key = await gateway.key({ budget_max: 0.00015 })
    const text = JSON.stringify(prompt(80, { ...bounded, service_tier: 'flex' }))
    const body = text.replace(/}$/, ',"service\\u005ftier":"priority"}')
    const { status } = await gateway.get('/v1/chat/completions', {
      method: 'POST',
      headers: key.headers,
      body,
    })
    expect(status).toBe(402)
  })

  test('is never passed: a request that would is refused', async () => {
    const gateway = await keyedGateway(pricedProvider + tiers)
    const key = await gateway.key({ budget_max: 0.00015 })
    const { status } = await gateway.ask(key, prompt(80, { ...bounded, service_tier: 'priority' }))
    expect(status).toBe(402)
    gateway.upstream.next(answer(80))
    expect((await gateway.ask(key, prompt(80, bounded))).status).toBe(200)
  })
})
