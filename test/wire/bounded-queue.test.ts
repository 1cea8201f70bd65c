import { describe, expect, test, vi } from 'vitest'
import { toFailure } from '../../src/core/failure.ts'
import { BoundedQueue } from '../../src/wire/bounded-queue.ts'

type OnRelease = (how: 'cancel' | 'drain') => void

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (read: Uint8Array | undefined) => read && new TextDecoder().decode(read)

describe('reading', () => {
  test('a read returns all waiting bytes, in order', async () => {
    const queue = new BoundedQueue(100)
    queue.push(bytes('one '))
    queue.push(bytes('two '))
    queue.push(bytes('three'))
    expect(text(await queue.read())).toBe('one two three')
  })

  test('long pieces are returned one by one, without a copy', async () => {
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

  test('a single piece is returned without a copy', async () => {
    const queue = new BoundedQueue(100)
    const piece = bytes('piece')
    queue.push(piece)
    expect(await queue.read()).toBe(piece)
  })

  test('a waiting reader gets all pieces of one turn of the event loop', async () => {
    const queue = new BoundedQueue(100)
    const read = queue.read()
    queue.push(bytes('data: 1\n\n'))
    queue.push(bytes('data: 2\n\n'))
    expect(text(await read)).toBe('data: 1\n\ndata: 2\n\n')
  })

  test('an empty piece does not wake the reader', async () => {
    const queue = new BoundedQueue(100)
    const read = queue.read()
    queue.push(bytes(''))
    await Promise.resolve()
    queue.push(bytes('content'))
    expect(text(await read)).toBe('content')
  })
})

describe('the end', () => {
  test('waiting bytes are read before a clean end', async () => {
    const queue = new BoundedQueue(100)
    queue.push(bytes('last'))
    queue.end()
    expect(text(await queue.read())).toBe('last')
    expect(await queue.read()).toBeUndefined()
    expect(await queue.read()).toBeUndefined()
  })

  test('waiting bytes are read before a failure', async () => {
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

  test('a waiting reader gets an end and a failure', async () => {
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
  test('one byte more than the limit fails the queue as slow-client', async () => {
    const onRelease = vi.fn<OnRelease>()
    const queue = new BoundedQueue(4, { onRelease })
    queue.push(bytes('1234'))
    expect(onRelease).not.toHaveBeenCalled()
    queue.push(bytes('5'))
    expect(onRelease).toHaveBeenCalledExactlyOnceWith('cancel')
    expect(await failure(queue)).toEqual({ kind: 'slow-client' })
  })

  test('bytes for a waiting reader do not count against the limit', async () => {
    const queue = new BoundedQueue(4)
    const read = queue.read()
    queue.push(bytes('far over the limit'))
    expect(text(await read)).toBe('far over the limit')
    queue.push(bytes('1234'))
    expect(text(await queue.read())).toBe('1234')
  })

  test('reading frees room under the limit', async () => {
    const queue = new BoundedQueue(4)
    for (let round = 0; round < 3; round++) {
      queue.push(bytes('1234'))
      expect(text(await queue.read())).toBe('1234')
    }
  })
})

describe('a reader that leaves', () => {
  test.each(['cancel', 'drain'] as const)('%s notifies the sender once', (how) => {
    const onRelease = vi.fn<OnRelease>()
    const queue = new BoundedQueue(100, { onRelease })
    queue[how]()
    queue.cancel()
    queue.drain()
    expect(onRelease).toHaveBeenCalledExactlyOnceWith(how)
  })

  test('after a cancel, waiting and later reads resolve to undefined', async () => {
    const queue = new BoundedQueue(100)
    const read = queue.read()
    queue.cancel()
    queue.push(bytes('late'))
    queue.fail({ kind: 'closed-early' })
    expect(await read).toBeUndefined()
    expect(await queue.read()).toBeUndefined()
  })

  test('a cancel between a piece and its delivery loses only that piece', async () => {
    const queue = new BoundedQueue(100)
    const read = queue.read()
    queue.push(bytes('piece'))
    queue.cancel()
    expect(await read).toBeUndefined()
  })

  test('a cancel after the end does not release a second time', () => {
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
