import { describe, expect, test, vi } from 'vitest'
import { toFailure } from '../../src/core/failure.ts'
import { BoundedQueue } from '../../src/wire/bounded-queue.ts'

type OnRelease = (how: 'cancel' | 'drain') => void

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (read: Uint8Array | undefined) => read && new TextDecoder().decode(read)

describe('reading', () => {
  test('a read returns everything that waits, in order', async () => {
    const queue = new BoundedQueue(100)
    queue.push(bytes('one '))
    queue.push(bytes('two '))
    queue.push(bytes('three'))
    expect(text(await queue.read())).toBe('one two three')
  })

  test('what would be long together comes piece by piece, without a copy', async () => {
    const queue = new BoundedQueue(1_000_000)
    const [first, second] = [new Uint8Array(60_000), new Uint8Array(60_000)]
    queue.push(first)
    queue.push(second)
    queue.push(bytes('end'))
    queue.end()
    expect(await queue.read()).toBe(first)
    const rest = await queue.read()
    expect(rest?.length).toBe(60_003)
    expect(text(rest)?.endsWith('end')).toBe(true)
    expect(await queue.read()).toBeUndefined()
  })

  test('a single piece is handed on without a copy', async () => {
    const queue = new BoundedQueue(100)
    const piece = bytes('piece')
    queue.push(piece)
    expect(await queue.read()).toBe(piece)
  })

  test('a reader that waits gets all that one turn of the sender brings', async () => {
    const queue = new BoundedQueue(100)
    const read = queue.read()
    queue.push(bytes('data: 1\n\n'))
    queue.push(bytes('data: 2\n\n'))
    expect(text(await read)).toBe('data: 1\n\ndata: 2\n\n')
  })

  test('an empty piece wakes nobody', async () => {
    const queue = new BoundedQueue(100)
    const read = queue.read()
    queue.push(bytes(''))
    await Promise.resolve()
    queue.push(bytes('content'))
    expect(text(await read)).toBe('content')
  })
})

describe('the end', () => {
  test('what waits is read before a clean end', async () => {
    const queue = new BoundedQueue(100)
    queue.push(bytes('last'))
    queue.end()
    expect(text(await queue.read())).toBe('last')
    expect(await queue.read()).toBeUndefined()
    expect(await queue.read()).toBeUndefined()
  })

  test('what waits is read before a failure', async () => {
    const queue = new BoundedQueue(100)
    queue.push(bytes('last'))
    queue.fail({ kind: 'network', reason: 'ECONNRESET' })
    expect(text(await queue.read())).toBe('last')
    expect(await failure(queue)).toEqual({ kind: 'network', reason: 'ECONNRESET' })
  })

  test('a piece and the end in one turn: the waiting reader gets the piece first', async () => {
    const queue = new BoundedQueue(100)
    const read = queue.read()
    queue.push(bytes('last'))
    queue.end()
    expect(text(await read)).toBe('last')
    expect(await queue.read()).toBeUndefined()
  })

  test('a piece and a failure in one turn: the waiting reader gets the piece first', async () => {
    const queue = new BoundedQueue(100)
    const read = queue.read()
    queue.push(bytes('last'))
    queue.fail({ kind: 'closed-early' })
    expect(text(await read)).toBe('last')
    expect(await failure(queue)).toEqual({ kind: 'closed-early' })
  })

  test('a waiting reader hears of an end and of a failure', async () => {
    const ended = new BoundedQueue(100)
    const end = ended.read()
    ended.end()
    expect(await end).toBeUndefined()

    const failed = new BoundedQueue(100)
    const fail = failed.read().catch(toFailure)
    failed.fail({ kind: 'closed-early' })
    expect(await fail).toEqual({ kind: 'closed-early' })
  })

  test('only the first end counts', async () => {
    const queue = new BoundedQueue(100)
    queue.end()
    queue.fail({ kind: 'closed-early' })
    queue.push(bytes('late'))
    expect(await queue.read()).toBeUndefined()
  })
})

describe('the limit', () => {
  test('as many bytes as the limit may wait, one more ends the exchange as slow-client', async () => {
    const onRelease = vi.fn<OnRelease>()
    const queue = new BoundedQueue(4, { onRelease })
    queue.push(bytes('1234'))
    expect(onRelease).not.toHaveBeenCalled()
    queue.push(bytes('5'))
    expect(onRelease).toHaveBeenCalledExactlyOnceWith('cancel')
    expect(await failure(queue)).toEqual({ kind: 'slow-client' })
  })

  test('bytes that a reader waits for are not too many', async () => {
    const queue = new BoundedQueue(4)
    const read = queue.read()
    queue.push(bytes('far over the limit'))
    expect(text(await read)).toBe('far over the limit')
    queue.push(bytes('1234'))
    expect(text(await queue.read())).toBe('1234')
  })

  test('reading makes room', async () => {
    const queue = new BoundedQueue(4)
    for (let round = 0; round < 3; round++) {
      queue.push(bytes('1234'))
      expect(text(await queue.read())).toBe('1234')
    }
  })
})

describe('a reader that leaves', () => {
  test.each(['cancel', 'drain'] as const)('%s tells the sender once', (how) => {
    const onRelease = vi.fn<OnRelease>()
    const queue = new BoundedQueue(100, { onRelease })
    queue[how]()
    queue.cancel()
    queue.drain()
    expect(onRelease).toHaveBeenCalledExactlyOnceWith(how)
  })

  test('a read that waits resolves to undefined, and later ones too', async () => {
    const queue = new BoundedQueue(100)
    const read = queue.read()
    queue.cancel()
    queue.push(bytes('late'))
    queue.fail({ kind: 'closed-early' })
    expect(await read).toBeUndefined()
    expect(await queue.read()).toBeUndefined()
  })

  test('leaving between a piece and its delivery loses the piece, and nothing else', async () => {
    const queue = new BoundedQueue(100)
    const read = queue.read()
    queue.push(bytes('piece'))
    queue.cancel()
    expect(await read).toBeUndefined()
  })

  test('leaving after the end frees nothing a second time', () => {
    const onRelease = vi.fn<OnRelease>()
    const queue = new BoundedQueue(100, { onRelease })
    queue.end()
    queue.cancel()
    expect(onRelease).not.toHaveBeenCalled()
  })
})

function failure(queue: BoundedQueue): Promise<unknown> {
  return queue.read().catch(toFailure)
}
