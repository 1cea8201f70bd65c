import { describe, expect, test } from 'vitest'
import type { Frame } from '../../src/core/frame.ts'
import { CommitGate } from '../../src/stream/commit-gate.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (frames: readonly Frame[]) =>
  frames.map((frame) => new TextDecoder().decode(frame.bytes))

const quiet = (said: string, more: Partial<Frame> = {}): Frame => ({
  bytes: bytes(said),
  kind: 'quiet',
  outputBytes: 0,
  ...more,
})
const content: Frame = { bytes: bytes('content'), kind: 'content', outputBytes: 7 }
const usage = (promptTokens: number) => ({
  promptTokens,
  completionTokens: 1,
  totalTokens: promptTokens + 1,
  estimated: false,
})

/** Every frame that comes out once there is content. */
function opened(...pushes: readonly (readonly Frame[])[]): readonly Frame[] {
  const gate = new CommitGate(1_000_000)
  for (const frames of pushes.slice(0, -1)) expect(gate.push(frames)).toEqual({ state: 'held' })
  const verdict = gate.push(pushes.at(-1) ?? [])
  if (verdict.state !== 'open') throw new Error(`the gate is ${verdict.state}`)
  return verdict.frames
}

describe('frames that are held until there is content', () => {
  test('come out as one where they are quiet, with all of their bytes', () => {
    const frames = opened([quiet('a'), quiet('b')], [quiet('c')], [quiet('d'), content])
    expect(text(frames)).toEqual(['abcd', 'content'])
  })

  test('keep what the last of them has reported', () => {
    const identity = (id: string) => ({ id, created: 1, model: 'm' })
    const [first] = opened([
      quiet('a', { identity: identity('1'), usage: usage(1) }),
      quiet('b', { usage: usage(2) }),
      quiet('c', { identity: identity('2') }),
      content,
    ])
    expect(first).toMatchObject({ identity: identity('2'), usage: usage(2) })
  })

  test('keep the word of the latest usage on whether the client has read it', () => {
    const owed = quiet('', { usage: usage(3), owesUsage: true })
    const read = quiet('u', { usage: usage(4) })
    expect(opened([owed, quiet('a'), content])[0]).toMatchObject({ owesUsage: true })
    expect(opened([owed, read, content])[0]).toMatchObject({ owesUsage: undefined })
  })

  test('behind the content are as they came', () => {
    const frames = opened([content, quiet('a'), quiet('b'), content])
    expect(text(frames)).toEqual(['content', 'a', 'b', 'content'])
  })
})

describe('a stream without content', () => {
  const noContent = {
    state: 'failed',
    failure: { kind: 'malformed', detail: 'the stream has no content' },
  }

  test('may be as long as the limit', () => {
    const gate = new CommitGate(4)
    expect(gate.push([quiet('ab'), quiet('cd')])).toEqual({ state: 'held' })
    expect(gate.push([quiet('e')])).toEqual(noContent)
  })
})
