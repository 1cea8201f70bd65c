import { onTestFinished } from 'vitest'
import { type NodeUpstream, nodeUpstream } from '../../../adapters/node/ports/upstream.ts'
import { readProxyRules } from '../../../adapters/node/upstream/proxy-rules.ts'
import { toFailure, type UpstreamFailure } from '../../../src/core/failure.ts'
import type { Environment, UpstreamRequest, UpstreamResponse } from '../../../src/index.ts'

/** The upstream port of the Node host, with the proxies of an environment. */
export function upstream(env: Environment = {}): NodeUpstream {
  const port = nodeUpstream(readProxyRules(env))
  onTestFinished(() => port.close())
  return port
}

export type Call = Pick<UpstreamRequest, 'url'> & Partial<UpstreamRequest>

/** Sends a request; only the URL is required. */
export function call(port: NodeUpstream, { url, ...rest }: Call): Promise<UpstreamResponse> {
  return port.send({
    method: 'POST',
    url,
    headers: {},
    body: new TextEncoder().encode('{}'),
    connectTimeout: 5_000,
    queueLimit: 8 * 1024 * 1024,
    signal: new AbortController().signal,
    ...rest,
  })
}

/** Returns a whole body as text. */
export async function whole({ body }: UpstreamResponse): Promise<string> {
  const decoder = new TextDecoder()
  let result = ''
  for (let bytes = await body.read(); bytes; bytes = await body.read()) {
    result += decoder.decode(bytes, { stream: true })
  }
  return result
}

export function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes && new TextDecoder().decode(bytes)
}

/** Returns the failure that `work` rejects with. */
export async function failure(work: Promise<unknown>): Promise<UpstreamFailure | 'no failure'> {
  try {
    await work
    return 'no failure'
  } catch (error) {
    return toFailure(error)
  }
}
