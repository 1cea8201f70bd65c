import { describe, expect, test } from 'vitest'
import type { UpstreamFailure } from '../../src/core/failure.ts'
import type { Frame } from '../../src/core/frame.ts'
import { createFailedFrame } from '../../src/stream/chunk-writer.ts'
import { CommitGate } from '../../src/stream/commit-gate.ts'
import { content, decodeFrames, everyKind, openAccount, passed, quiet } from '../support/streams.ts'

const usage = (promptTokens: number) => ({
  promptTokens,
  completionTokens: 1,
  totalTokens: promptTokens + 1,
  estimated: false,
})

describe.each(everyKind)('the commit gate in %s', (_, streams) => {
  /** What has passed the gate, and what it opened with. */
  async function gated(chunks: Frame[][], limit = 1_000_000) {
    const share = openAccount()
    const gate = new CommitGate({ limit: limit, unread: share.openCounter() })
    const frames = await passed(streams, gate, chunks)
    expect(share.unread).toBe(0)
    return { frames, failure: (await gate.opened)?.failure }
  }

  async function firstOf(...chunks: Frame[][]): Promise<Frame | undefined> {
    const { frames } = await gated(chunks)
    return frames[0]?.[0]
  }

  const failureOf = async (...chunks: Frame[][]) => {
    const { frames, failure } = await gated(chunks)
    expect(frames).toEqual([])
    return failure
  }

  test('quiet frames are held until there is content, and then passed on as one', async () => {
    const { frames, failure } = await gated([
      [quiet('a'), quiet('b')],
      [quiet('c')],
      [quiet('d'), content('hello'), quiet('e')],
      [quiet('f')],
    ])
    expect(decodeFrames(frames)).toEqual([['abcd', 'hello', 'e'], ['f']])
    expect(failure).toBeUndefined()
  })

  test('the joined frame has the latest report of each quiet frame', async () => {
    const identity = (id: string) => ({ id, created: 1, model: 'm' })
    const first = await firstOf(
      [
        quiet('a', { identity: identity('1'), usage: usage(1) }),
        quiet('b', { usage: usage(2), finished: 'some' }),
        quiet('c', { identity: identity('2') }),
      ],
      [content('hello')],
    )
    expect(first).toMatchObject({ identity: identity('2'), usage: usage(2), finished: 'some' })
  })

  test('the joined frame says whether the client has read the latest usage', async () => {
    const owed = quiet('', { usage: usage(3), hasUnsentUsage: true })
    const read = quiet('u', { usage: usage(4) })
    expect(await firstOf([owed, quiet('a')], [content('hello')])).toMatchObject({
      hasUnsentUsage: true,
    })
    expect((await firstOf([owed, read], [content('hello')]))?.hasUnsentUsage).toBeUndefined()
  })

  test('the gate opens with the failure that comes in place of content', async () => {
    const failure: UpstreamFailure = { kind: 'error-frame', message: 'overloaded' }
    expect(await failureOf([quiet('a')], [createFailedFrame(failure), content('late')])).toEqual(
      failure,
    )
  })

  test.each([
    ['ends', []],
    ['says that it is done', [{ ...quiet('d'), kind: 'done' as const }]],
  ])('a stream that %s before its content has ended too early', async (__, last) => {
    expect(await failureOf([quiet('a')], last)).toEqual({ kind: 'closed-early' })
  })

  test('a stream may reach the limit before its content', async () => {
    const failure = { kind: 'malformed', detail: 'the stream has no content' }
    const held = [[quiet('ab'), quiet('cd')]]
    expect(await gated([...held, [content('hello')]], 4)).toMatchObject({ failure: undefined })
    expect(await gated([...held, [quiet('e')]], 4)).toEqual({ frames: [], failure })
  })

  test('a stream may have 5,000 choices without content', async () => {
    const failure = { kind: 'malformed', detail: 'the stream has no content' }
    const held = Array.from({ length: 5000 }, (__, index) => quiet('', { choices: [{ index }] }))
    const first = await firstOf(held, [content('hello')])
    expect(first?.choices?.at(-1)).toEqual({ index: 4999 })
    const more = [...held, quiet('', { choices: [{ index: 0 }] })]
    expect(await gated([more, [content('hello')]])).toEqual({ frames: [], failure })
  })
})
