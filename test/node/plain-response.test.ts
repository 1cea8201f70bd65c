import { describe, expect, test } from 'vitest'
import { nodeResponse } from '../../adapters/node/ports/plain-response.ts'
import { NodeReadableStream } from '../../adapters/node/streams/index.ts'
import { type AsciiText, headerList } from '../../src/core/ports.ts'
import { unbuffered } from '../../src/core/streams.ts'
import type { Source } from '../../src/index.ts'

const json = () =>
  nodeResponse({
    status: 201,
    headers: headerList({ 'content-type': 'application/json', 'x-a': 'b' }),
    body: '{"a":1}' as AsciiText,
  })

const streamOf = (source: Source<Uint8Array>) => new NodeReadableStream(source, unbuffered)

describe('an answer of the host’s own class', () => {
  test('a PlainResponse behaves like a Response', async () => {
    expect(json().status).toBe(201)
    expect(json().ok).toBe(true)
    expect(json().headers.get('X-A')).toBe('b')
    expect(json().headers.get('x-b')).toBeNull()
    expect(await json().text()).toBe('{"a":1}')
    expect(await json().json()).toEqual({ a: 1 })
    expect(new Uint8Array(await json().arrayBuffer())).toHaveLength(7)
  })

  test('the body of a PlainResponse can be read as a stream', async () => {
    const source: Source<Uint8Array> = {
      start(controller) {
        controller.enqueue(new TextEncoder().encode('ab'))
        controller.close()
      },
    }
    expect(
      await nodeResponse({ status: 200, headers: headerList({}), body: streamOf(source) }).text(),
    ).toBe('ab')
  })

  test('a PlainResponse starts its stream only once', async () => {
    let starts = 0
    const source: Source<Uint8Array> = {
      start(controller) {
        starts++
        setImmediate(() => {
          controller.enqueue(new TextEncoder().encode('late'))
          controller.close()
        })
      },
    }
    const response = nodeResponse({
      status: 200,
      headers: headerList({ 'x-a': 'b' }),
      body: streamOf(source),
    })
    expect(response.headers.get('x-a')).toBe('b')
    expect(response.ok).toBe(true)
    expect(await response.text()).toBe('late')
    expect(starts).toBe(1)
  })
})
