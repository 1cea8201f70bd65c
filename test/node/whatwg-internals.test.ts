import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Response as OwnResponse } from '@whatwg-node/fetch'
import { createServerAdapter, type NodeRequest } from '@whatwg-node/server'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  ownSignal,
  type SentResponse,
  sendResponse,
} from '../../adapters/node/http/whatwg-internals.ts'

const none = { bodyType: undefined, bodyInit: undefined, _buffer: undefined, body: null }
const headers = { headersInit: { 'content-type': 'text/plain', 'content-length': '1' } }
const head = { status: 200, statusText: 'OK', headers }

function exchange() {
  const incoming = new IncomingMessage(new Socket())
  incoming.method = 'GET'
  incoming.url = '/'
  const outgoing = new ServerResponse(incoming)
  const written: string[] = []
  outgoing.write = (chunk: unknown, ...rest: unknown[]) => {
    written.push(Buffer.from(chunk as string).toString())
    const done = rest.find((one) => typeof one === 'function') as (() => void) | undefined
    done?.()
    return true
  }
  return { incoming: incoming as NodeRequest, outgoing, written }
}

/** Returns an object that notes each member which is read, under its path. */
function watch<Value extends object>(value: Value, reads: Set<string>, path = ''): Value {
  return new Proxy(value, {
    get(target, key) {
      const name = `${path}${String(key)}`
      reads.add(name)
      const found: unknown = Reflect.get(target, key)
      return key === 'headers' ? watch(found as object, reads, `${name}.`) : found
    },
  })
}

describe('the private members of @whatwg-node/server', () => {
  const common = ['status', 'statusText', 'headers', 'headers.headersInit', 'bodyType']
  // Optional members of its own headers, which ours do not have.
  const ofHeaders = ['headers._map', 'headers._setCookies']

  test.each<[name: string, response: SentResponse, members: string[], body: string[]]>([
    ['text', { ...head, ...none, bodyType: 'String', bodyInit: 'x' }, ['bodyInit'], ['x']],
    ['bytes', { ...head, ...none, _buffer: Buffer.from('y') }, ['_buffer'], ['y']],
    ['nothing', { ...head, ...none }, ['_buffer', 'body'], []],
  ])(
    'a response of %s is sent from the members that it has',
    async (_, response, members, body) => {
      const reads = new Set<string>()
      const { incoming, outgoing, written } = exchange()
      await sendResponse(watch(response, reads), { outgoing, incoming })
      expect([...reads].sort()).toEqual([...common, ...ofHeaders, ...members].sort())
      expect(outgoing.statusCode).toBe(200)
      expect(outgoing.headersSent).toBe(true)
      expect(written).toEqual(body)
    },
  )

  test('a request gets no native AbortController', async () => {
    let count = 0
    class Counted extends AbortController {
      constructor() {
        super()
        count++
      }
    }
    vi.stubGlobal('AbortController', Counted)
    onTestFinished(() => void vi.unstubAllGlobals())
    const serve = () => new OwnResponse('x')
    const counts: number[] = []
    for (const options of [ownSignal, { __useCustomAbortCtrl: false }]) {
      count = 0
      const { incoming, outgoing } = exchange()
      await createServerAdapter(serve, options).handleNodeRequestAndResponse(incoming, outgoing)
      counts.push(count)
    }
    expect(counts).toEqual([0, 1])
  })
})
