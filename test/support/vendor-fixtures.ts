import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parsePayloads } from './chunks.ts'
import { readError, type TestGateway } from './gateway.ts'
import { singly } from './pieces.ts'
import { json, type Responder, stream } from './scripted-upstream.ts'

/*
 * Replays what is in `test/fixtures/<kind>`: `requests.json`, `answers.json` and `streams.json`. A case has
 * either the expected result, or the `error` that the client gets.
 */

/** What a case says of its provider. */
export interface FixtureSetup {
  /** The `upstream_id` of the model. Default: that of the vendor's tests. */
  readonly upstreamId?: string | undefined
  readonly strict?: boolean | undefined
  readonly baseUrl?: string | undefined
  /** Names a credential of the vendor's tests. */
  readonly secret?: string | undefined
}

/** What the cases of a vendor have in common. */
export interface FixtureVendor {
  /** The folder in `test/fixtures`. */
  readonly kind: string
  createGateway(setup?: FixtureSetup): Promise<TestGateway>
  /** The client's id of the model. Default: `m`. */
  readonly model?: string
  /** Precedes the path of each request; a case may also have a whole `url`. */
  readonly origin?: string
  /** The headers of every upstream request. */
  readonly headers?: object
  /** An upstream answer to any request. */
  readonly answer: object
  /** An upstream answer to any streamed request, as text. Default: an empty stream. */
  readonly streamed?: readonly string[]
  /** The form of the chunks of a stream, and how its answer is sent. Default: the text of an event stream. */
  readonly binary?: {
    readonly encoding: 'base64'
    send(pieces: readonly Uint8Array[]): Responder
  }
  /** The values that a text in a fixture means, for what differs in each run. */
  readonly placeholders?: Readonly<Record<string, unknown>>
}

interface Case {
  readonly name: string
}

interface RequestCase extends Case {
  readonly model?: string
  readonly provider?: { readonly strict?: boolean; readonly base_url?: string }
  readonly secret?: string
  readonly request: { readonly stream?: boolean }
  readonly upstream?: {
    readonly path?: string
    readonly url?: string
    readonly headers?: object
    readonly body: object
  }
  readonly error?: { readonly code: string; readonly param: string }
}

/** The client's error when every attempt fails, and the number of attempts. */
interface Failure {
  readonly code: string
  readonly status: number
  readonly calls: number
}

interface AnswerCase extends Case {
  /** Further fields of the request. */
  readonly request?: object
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
  readonly answer?: object
  readonly error?: Failure
}

export interface StreamCase extends Case {
  readonly includeUsage?: boolean
  readonly chunks: readonly string[]
  /** The client's payloads. Of an error frame, only its code is compared. */
  readonly frames?: readonly unknown[]
  readonly error?: Failure
}

/** Defines the tests of a vendor's fixtures. */
export function testFixtures(vendor: FixtureVendor): void {
  describe('requests', () => {
    test.each(readFixtures<RequestCase>(vendor, 'requests'))(
      'the request is sent or refused as expected: $name',
      (fixture) => expectRequest(vendor, fixture),
    )
  })

  describe('answers', () => {
    test.each(readFixtures<AnswerCase>(vendor, 'answers'))(
      'the answer is translated as expected: $name',
      (fixture) => expectAnswer(vendor, fixture),
    )
  })

  describe('streams', () => {
    test.each(readFixtures<StreamCase>(vendor, 'streams'))(
      'the stream is translated as expected, however the network splits it: $name',
      (fixture) => expectStream(vendor, fixture),
    )
  })
}

/** Reads a file of cases in the form that its type describes. */
export function readFixtures<Fixture>(
  { kind, placeholders = {} }: Pick<FixtureVendor, 'kind' | 'placeholders'>,
  file: 'requests' | 'answers' | 'streams',
): readonly Fixture[] {
  const url = new URL(`../fixtures/${kind}/${file}.json`, import.meta.url)
  const fill = (_: string, value: unknown) =>
    typeof value === 'string' && value in placeholders ? placeholders[value] : value
  // The files have the shapes above.
  return JSON.parse(readFileSync(url, 'utf8'), fill) as Fixture[]
}

async function expectRequest(vendor: FixtureVendor, fixture: RequestCase): Promise<void> {
  const { model: upstreamId, provider, secret, request, upstream: expected, error } = fixture
  const { strict, base_url: baseUrl } = provider ?? {}
  const gateway = await vendor.createGateway({ upstreamId, strict, baseUrl, secret })
  const { upstream } = gateway
  upstream.always(request.stream ? stream(vendor.streamed ?? []) : json(vendor.answer))
  const response = await waitForAnswer(gateway, gateway.chat(request))
  if (error) {
    expect(response.status).toBe(400)
    expect(await readError(response)).toMatchObject(error)
    expect(upstream.requests).toEqual([])
    return
  }
  const sent = upstream.requests.at(-1)
  expect(sent).toMatchObject({
    method: 'POST',
    url: expected?.url ?? `${vendor.origin}${expected?.path}`,
    headers: { 'content-type': 'application/json', ...vendor.headers, ...expected?.headers },
  })
  const credentials = ['authorization', 'x-api-key', 'x-goog-api-key']
  expect(credentials.filter((name) => sent?.headers[name])).toHaveLength(1)
  expect(upstream.body()).toEqual(expected?.body)
}

async function expectAnswer(vendor: FixtureVendor, fixture: AnswerCase): Promise<void> {
  const { request, status, headers = {}, body, answer, error } = fixture
  const gateway = await vendor.createGateway()
  gateway.upstream.always(json(body, { status, headers }))
  const response = gateway.chat(ask(vendor, request))
  if (error) return expectFailure(gateway, response, error)
  expect((await response).status).toBe(200)
  expect(await (await response).json()).toEqual(answer)
}

async function expectStream(vendor: FixtureVendor, fixture: StreamCase): Promise<void> {
  const { chunks, frames, includeUsage, error } = fixture
  const options = includeUsage === undefined ? {} : { include_usage: includeUsage }
  for (const send of splitDifferently(vendor, chunks)) {
    const gateway = await vendor.createGateway()
    gateway.upstream.always(send)
    const response = gateway.chat(ask(vendor, { stream: true, stream_options: options }))
    if (error) await expectFailure(gateway, response, error)
    else expect((await parsePayloads(await response)).map(keepCode)).toEqual(frames?.map(keepCode))
  }
}

function ask({ model = 'm' }: FixtureVendor, fields: object = {}): object {
  return { model, messages: [{ role: 'user', content: 'Hi' }], ...fields }
}

async function expectFailure(gateway: TestGateway, answer: Promise<Response>, failure: Failure) {
  const response = await waitForAnswer(gateway, answer)
  expect(response.status).toBe(failure.status)
  expect((await readError(response))['code']).toBe(failure.code)
  expect(gateway.upstream.requests).toHaveLength(failure.calls)
}

/** Advances the clock past all retries. */
async function waitForAnswer<T>({ clock }: TestGateway, answer: Promise<T>): Promise<T> {
  await clock.advance(300_000)
  return answer
}

/** Reduces an error frame to its code. */
function keepCode(payload: unknown): unknown {
  const { error } = Object(payload) as { error?: { code: string } }
  return error ? { error: { code: error.code } } : payload
}

/** Answers with the same bytes in different pieces, as the network may deliver them, and with other line ends. */
function splitDifferently(
  { binary }: FixtureVendor,
  chunks: readonly string[],
): readonly Responder[] {
  if (binary) {
    const messages = chunks.map((chunk) => Uint8Array.from(Buffer.from(chunk, binary.encoding)))
    const bytes = Uint8Array.from(Buffer.concat(messages))
    return [messages, [bytes], singly(bytes)].map((cut) => binary.send(cut))
  }
  const whole = chunks.join('')
  const other = whole.includes('\r\n')
    ? whole.replaceAll('\r\n', '\n')
    : whole.replaceAll('\n', '\r\n')
  const encode = (text: string) => new TextEncoder().encode(text)
  return [chunks, [whole], [other], singly(encode(whole)), singly(encode(other))].map((cut) =>
    stream(cut),
  )
}
