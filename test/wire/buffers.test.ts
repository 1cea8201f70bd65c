import { describe, expect, test, vi } from 'vitest'
import { Buffers } from '../../src/wire/buffers.ts'

/** Lets what was put off to the end of this turn happen. */
const turn = () => Promise.resolve()

describe('the sum of bytes', () => {
  test('the sum covers all accounts, and shrinks when an account closes', () => {
    const buffers = new Buffers(() => 1000)
    const [first, second] = [buffers.openAccount(() => {}), buffers.openAccount(() => {})]
    first.addUnread(100)
    first.addBody(10)
    second.addUnread(1)
    expect(buffers.bytes).toBe(111)
    first.addUnread(-40)
    expect(buffers.bytes).toBe(71)
    first.close()
    expect(buffers.bytes).toBe(1)
    second.close()
    expect(buffers.bytes).toBe(0)
  })

  test('the sum is reduced once per account, whatever follows its close', () => {
    const buffers = new Buffers(() => 1000)
    const share = buffers.openAccount(() => {})
    const hold = share.openCounter()
    hold.add(100)
    share.close()
    share.close()
    hold.add(50)
    hold.release()
    share.addBody(7)
    share.addUnread(-3)
    expect(buffers.bytes).toBe(0)
  })

  test('releasing one counter keeps the rest of its account', () => {
    const buffers = new Buffers(() => 1000)
    const share = buffers.openAccount(() => {})
    const [queue, gate] = [share.openCounter(), share.openCounter()]
    queue.add(100)
    gate.add(10)
    queue.add(-1)
    queue.release()
    queue.release()
    expect(buffers.bytes).toBe(10)
  })
})

describe('over the limit', () => {
  test('only the account with the most unread bytes is evicted if that is enough', async () => {
    const buffers = new Buffers(() => 100)
    const ends = [vi.fn<() => void>(), vi.fn<() => void>(), vi.fn<() => void>()]
    const shares = ends.map((end) => buffers.openAccount(end))
    shares[0]?.addUnread(30)
    shares[1]?.addUnread(60)
    shares[2]?.addUnread(11)
    await turn()
    expect(ends.map((end) => end.mock.calls.length)).toEqual([0, 1, 0])
    expect(buffers.bytes).toBe(41)
  })

  test('as many accounts are evicted as necessary', async () => {
    const buffers = new Buffers(() => 100)
    const ended: number[] = []
    for (const size of [40, 50, 60, 70]) {
      buffers.openAccount(() => ended.push(size)).addUnread(size)
    }
    await turn()
    expect(ended).toEqual([70, 60])
    expect(buffers.bytes).toBe(90)
  })

  test('request bodies evict only accounts with unread bytes', async () => {
    const buffers = new Buffers(() => 100)
    const [sender, reader] = [vi.fn<() => void>(), vi.fn<() => void>()]
    const body = buffers.openAccount(sender)
    buffers.openAccount(reader).addUnread(1)
    body.addBody(200)
    await turn()
    expect(reader).toHaveBeenCalledOnce()
    expect(sender).not.toHaveBeenCalled()
    expect(buffers.bytes).toBe(200)
  })

  test('a lowered limit applies at the next byte', async () => {
    let limit = 100
    const buffers = new Buffers(() => limit)
    const end = vi.fn<() => void>()
    const share = buffers.openAccount(end)
    share.addUnread(60)
    limit = 50
    share.addUnread(1)
    await turn()
    expect(end).toHaveBeenCalledOnce()
  })
})
