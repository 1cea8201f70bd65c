import { Readable } from 'node:stream'
import type { CloudCredentialRequest } from '../../../src/index.ts'
import { readExcerpt } from '../../../src/wire/body.ts'

/** The part of a request of AWS's packages that is sent. */
interface AwsRequest {
  readonly method: string
  readonly protocol: string
  readonly hostname: string
  readonly port?: number | undefined
  readonly path: string
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

interface AwsResponse {
  readonly statusCode: number
  readonly headers: Record<string, string>
  readonly body: Readable
}

const connectTimeout = 5_000
const maxAnswerBytes = 256 * 1024

/**
 * Returns the HTTP handler for the clients in AWS's packages (STS, SSO). It sends their requests as the gateway
 * sends its own: through the proxy and with the certificate authorities of the provider.
 */
export function createAwsHandler({
  send,
  signal,
}: Pick<CloudCredentialRequest, 'send' | 'signal'>) {
  return {
    async handle(request: AwsRequest): Promise<{ response: AwsResponse }> {
      const answer = await send({
        method: request.method === 'GET' ? 'GET' : 'POST',
        url: toUrl(request),
        headers: toHeaders(request.headers),
        body: toBytes(request.body),
        connectTimeout,
        queueLimit: maxAnswerBytes,
        signal,
      })
      const text = await readExcerpt(answer.body, { maxBytes: maxAnswerBytes })
      const headers = readHeaders.flatMap((name) => {
        const value = answer.header(name)
        return value === undefined ? [] : [[name, value] as const]
      })
      const body = Readable.from([Buffer.from(text)])
      return {
        response: { statusCode: answer.status, headers: Object.fromEntries(headers), body },
      }
    },
  }
}

/** The headers of answers that the packages read. */
const readHeaders = ['content-type', 'date', 'retry-after', 'x-amzn-errortype', 'x-amzn-requestid']

function toUrl({ protocol, hostname, port, path, query = {} }: AwsRequest): string {
  const url = new URL(path, `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`)
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value ?? ''].flat()) url.searchParams.append(name, one)
  }
  return url.href
}

/** The client of the gateway writes these two itself. */
function toHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(named.filter(([name]) => name !== 'host' && name !== 'content-length'))
}

function toBytes(body: unknown): Uint8Array | undefined {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  return body instanceof Uint8Array ? body : undefined
}
