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

describe.each(everyKind)('the usage tap in %s', (_, streams) => {
  async function tapped(chunks: Frame[][], more: { shouldKeepOutput?: boolean } = {}) {
    const tap = new UsageTap({
      shouldKeepOutput: false,
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

  test('reported usage that the client has not read is marked as such', async () => {
    const owed = quiet('', { usage: reported(7), hasUnsentUsage: true })
    const { tap } = await tapped([[content('a')], [owed, doneFrame]])
    expect(tap.final).toMatchObject({ usage: { completionTokens: 7 }, isInBytes: false })
    const read = await tapped([[content('a', { usage: reported(7) }), doneFrame]])
    expect(read.tap.final).toMatchObject({ isInBytes: true })
  })

  test('a stream without reported usage gets an estimate', async () => {
    const { tap } = await tapped([[content('hello'), doneFrame]])
    expect(tap.final).toMatchObject({
      usage: { promptTokens: 9, completionTokens: 5, estimated: true },
      isInBytes: false,
    })
  })

  test('the text is kept when it is to be counted exactly', async () => {
    const chunks = [[content('a')], [content('b'), doneFrame]]
    expect((await tapped(chunks, { shouldKeepOutput: true })).tap.output).toBe('ab')
    expect((await tapped(chunks)).tap.output).toBeUndefined()
  })
})
