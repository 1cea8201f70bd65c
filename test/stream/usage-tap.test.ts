import { describe, expect, test } from 'vitest'
import type { Frame } from '../../src/core/frame.ts'
import type { ReportedUsage } from '../../src/core/usage.ts'
import { doneFrame } from '../../src/stream/chunk-writer.ts'
import { UsageTap } from '../../src/stream/usage-tap.ts'
import { content, decodeFrames, everyKind, passed, quiet } from '../support/streams.ts'

const reported = (completionTokens: number): ReportedUsage => ({
  promptTokens: 5,
  completionTokens,
})
const identity = { id: 'c1', created: 1, model: 'm' }

describe.each(everyKind)('the usage tap in %s', (_, streams) => {
  async function tapped(
    chunks: Frame[][],
    more: { wantsUsageChunk?: boolean; shouldKeepOutput?: boolean } = {},
  ) {
    const tap = new UsageTap({
      wantsUsageChunk: false,
      shouldKeepOutput: false,
      identity: () => ({ id: 'own', created: 2, model: 'own' }),
      estimate: (outputBytes) => ({
        promptTokens: 9,
        completionTokens: outputBytes,
        totalTokens: 9 + outputBytes,
        estimated: true,
        estimatedSide: 'both',
      }),
      ...more,
    })
    return { tap, texts: decodeFrames(await passed(streams, tap, chunks)) }
  }

  test('everything passes, and the last report counts', async () => {
    const chunks = [[content('a', { usage: reported(1) })], [quiet('b', { usage: reported(7) })]]
    const { tap, texts } = await tapped([...chunks, [doneFrame]])
    expect(texts).toEqual([['a'], ['b'], ['data: [DONE]\n\n']])
    expect(tap.usage).toMatchObject({ promptTokens: 5, completionTokens: 7 })
  })

  test('a client that has not read the reported usage gets a chunk before [DONE]', async () => {
    const owed = quiet('', { usage: reported(7), hasUnsentUsage: true, identity })
    const { texts } = await tapped([[content('a')], [owed, doneFrame]], { wantsUsageChunk: true })
    const chunk = JSON.parse((texts[1]?.[1] ?? '').replace(/^data: /, ''))
    expect(chunk).toMatchObject({ ...identity, choices: [], usage: { completion_tokens: 7 } })
    expect(texts[1]?.[2]).toBe('data: [DONE]\n\n')
  })

  test('a stream without reported usage gets an estimate', async () => {
    const { tap, texts } = await tapped([[content('hello'), doneFrame]])
    const chunk = JSON.parse((texts[0]?.[1] ?? '').replace(/^data: /, ''))
    expect(chunk).toMatchObject({
      id: 'own',
      choices: [{ index: 0, delta: {}, finish_reason: null }],
      usage: { prompt_tokens: 9, completion_tokens: 5, estimated: true },
    })
    expect(tap.usage).toMatchObject({ completionTokens: 5, estimated: true })
  })

  test('the text is kept when it is to be counted exactly', async () => {
    const chunks = [[content('a')], [content('b'), doneFrame]]
    expect((await tapped(chunks, { shouldKeepOutput: true })).tap.output).toBe('ab')
    expect((await tapped(chunks)).tap.output).toBeUndefined()
  })
})
