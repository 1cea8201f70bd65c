import { describe, expect, test } from 'vitest'
import { fetchApi } from '../../adapters/node/ports/fetch-api.ts'

const json = () =>
  new fetchApi.Response('{"a":1}', {
    status: 201,
    headers: { 'content-type': 'application/json', 'x-a': 'b' },
  })

describe('an answer of the host’s own class', () => {
  test('is a Response to everybody who looks into it', async () => {
    expect(json().status).toBe(201)
    expect(json().ok).toBe(true)
    expect(json().headers.get('X-A')).toBe('b')
    expect(await json().text()).toBe('{"a":1}')
    expect(await json().json()).toEqual({ a: 1 })
    expect(new Uint8Array(await json().arrayBuffer())).toHaveLength(7)
  })

  test('has a body that can be read as a stream', async () => {
    const stream = new fetchApi.ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('ab'))
        controller.close()
      },
    })
    expect(await new fetchApi.Response(stream).text()).toBe('ab')
  })

  test('takes headers in any form', () => {
    const headers = new Headers({ 'X-A': 'b' })
    expect(new fetchApi.Response(null, { headers }).headers.get('x-a')).toBe('b')
    expect(new fetchApi.Response().headers.get('x-a')).toBeNull()
  })
})
