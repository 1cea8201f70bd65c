import { expect, test } from 'vitest'
import { readStream } from '../../support/chunks.ts'
import { merges } from '../../support/merged-deltas.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { answered, asking, event, googleGateway, saying } from './support.ts'

const sound = { inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: 'AAAA' } }

test.each(Object.entries(merges))(
  'audio returns to the model when a client merges the stream like this: %s',
  async (_name, merge) => {
    const { chat, upstream } = await googleGateway()
    upstream.next(stream([event(answered([sound], { finishReason: 'STOP' }))]))
    const { chunks } = await readStream(await chat(asking({ stream: true })))
    upstream.next(json(saying('Done.')))
    const messages = [question, await merge(chunks), question]
    expect((await chat(asking({ messages }))).status).toBe(200)
    expect(upstream.body()).toMatchObject({ contents: [{}, { role: 'model', parts: [sound] }, {}] })
  },
)

const question = { role: 'user', content: 'Hi' }
