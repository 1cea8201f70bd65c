import { describe, expect, test } from 'vitest'
import { parsed, rawClient } from './support/raw-client.ts'
import { clientGone, served, stubGateway, text } from './support/stub-gateway.ts'

const textOf = (bytes: ArrayBuffer) => new TextDecoder().decode(bytes)
const answerWith = (read: (request: Request) => unknown) =>
  stubGateway(async (request) => text(JSON.stringify(await read(request))))

/** Sends one request, and returns the JSON of the response. */
async function ask(
  read: (request: Request) => unknown,
  { head = 'POST / HTTP/1.1\r\nhost: a\r\n', pieces = ['\r\n'] } = {},
): Promise<unknown> {
  const { port } = await served(answerWith(read))
  const client = rawClient(port)
  client.send(head)
  for (const piece of pieces) {
    client.send(piece)
    await new Promise(setImmediate)
  }
  return JSON.parse(parsed(await client.until(/\r\n\r\n.+/)).body)
}

describe('the headers of a request on Node', () => {
  const head =
    'GET / HTTP/1.1\r\nhost: a\r\nX-A: b\r\nx-a: c\r\nx-empty:\r\ncookie: d=1\r\ncookie: e=2\r\n'

  test('a header is found by its name in any case, and repeated ones are joined', () =>
    expect(
      ask(({ headers }) => ['X-A', 'cookie', 'x-empty', 'x-b'].map((name) => headers.get(name)), {
        head,
      }),
    ).resolves.toEqual(['b, c', 'd=1; e=2', '', null]))

  test('the members of all objects are not headers', () =>
    expect(
      ask(({ headers }) => ['constructor', '__proto__', 'toString'].map((n) => headers.has(n))),
    ).resolves.toEqual([false, false, false]))

  test('headers can be listed and changed', () =>
    expect(
      ask(
        ({ headers }) => {
          headers.set('x-a', 'new')
          headers.delete('cookie')
          return [headers.get('X-A'), headers.has('cookie'), Object.fromEntries(headers)]
        },
        { head },
      ),
    ).resolves.toEqual(['new', false, { host: 'a', 'x-a': 'new', 'x-empty': '' }]))
})

describe('the body of a request on Node', () => {
  const head = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 7\r\n'

  test.each([
    ['in one piece', ['\r\nabcdefg']],
    ['in pieces', ['\r\n', 'ab', 'cdefg']],
  ])('a body that arrives %s is read whole', (_, pieces) =>
    expect(
      ask(async (request) => textOf(await request.arrayBuffer()), { head, pieces }),
    ).resolves.toBe('abcdefg'),
  )

  test.each([
    ['text', (request: Request) => request.text()],
    ['json', async (request: Request) => JSON.stringify(await request.json())],
    [
      'a stream',
      async ({ body }: Request) => {
        const next = await body?.getReader().read()
        return new TextDecoder().decode(next?.value)
      },
    ],
  ])('a body can be read as %s', (_, read) =>
    expect(ask(read, { head, pieces: ['\r\n{"a":1}'] })).resolves.toBe('{"a":1}'),
  )

  test.each([
    ['whole', '{"a":1}', (request: Request) => request.arrayBuffer().then(textOf)],
    ['as text', '{"a":1}', (request: Request) => request.text()],
    [
      'twice',
      '{"a":1}',
      async (request: Request) => {
        await request.arrayBuffer()
        return textOf(await request.arrayBuffer())
      },
    ],
    [
      'first as text',
      '{"a":1}',
      async (request: Request) => {
        await request.text()
        return textOf(await request.arrayBuffer())
      },
    ],
  ])('a body that waited for other requests is read %s', async (_, body, read) => {
    const gateway = stubGateway(async (request, context) => {
      if (request.method === 'GET') await clientGone(context)
      return text(await read(request))
    })
    const { port } = await served(gateway)
    rawClient(port).send('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await expect.poll(() => gateway.calls).toHaveLength(1)
    const client = rawClient(port)
    for (let sent = 1; sent <= 2; sent++) {
      client.send(`${head}\r\n${body}`)
      await client.until(new RegExp(`(${body}[^]*){${sent}}`))
    }
  })

  test('a body that waited for other requests needs no 100 Continue', async () => {
    const gateway = stubGateway(async (request, context) => {
      if (request.method === 'GET') await clientGone(context)
      return text(await request.text())
    })
    const { port } = await served(gateway)
    rawClient(port).send('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await expect.poll(() => gateway.calls).toHaveLength(1)
    const client = rawClient(port)
    client.send(`${head}expect: 100-continue\r\n\r\n{"a":1}`)
    const answer = await client.until('{"a":1}')
    expect(answer).not.toContain('100 Continue')
    expect(answer).not.toContain('connection: close')
  })

  test('a request without a body has an empty one', () =>
    expect(ask(async (request) => [(await request.arrayBuffer()).byteLength])).resolves.toEqual([
      0,
    ]))

  test('GET has no body', () =>
    expect(
      ask(({ body, method }) => [method, body], { head: 'GET / HTTP/1.1\r\nhost: a\r\n' }),
    ).resolves.toEqual(['GET', null]))

  test('a body that breaks off is an error, before and after the client has left', async () => {
    const failures: unknown[] = []
    const gateway = stubGateway(async (request) => {
      failures.push(await request.arrayBuffer().catch(() => 'first'))
      failures.push(await request.arrayBuffer().catch(() => 'second'))
      done()
      return text('')
    })
    let done = () => {}
    const over = new Promise<void>((resolve) => {
      done = resolve
    })
    const { port } = await served(gateway)
    const client = rawClient(port)
    client.send(`${head}\r\nabc`)
    await expect.poll(() => gateway.calls).toHaveLength(1)
    client.socket.destroy()
    await over
    expect(failures).toEqual(['first', 'second'])
  })
})

test('the signal of a request aborts when its client leaves', async () => {
  let signal: AbortSignal | undefined
  const gateway = stubGateway(async (request, context) => {
    signal = request.signal
    await clientGone(context)
    return text('')
  })
  const { port } = await served(gateway)
  const client = rawClient(port)
  client.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await expect.poll(() => signal?.aborted).toBe(false)
  client.socket.destroy()
  await expect.poll(() => signal?.aborted).toBe(true)
})
