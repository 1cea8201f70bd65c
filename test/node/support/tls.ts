import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { started, type TestServer } from './servers.ts'

const folder = new URL('../../fixtures/tls/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')

/** The certificate authority of the test servers. */
export const authority: string = read('authority.pem')

/** Key and certificate of the test servers. */
export function identity(certificate: 'server' | 'expired' = 'server') {
  return { key: read('server.key'), cert: read(`${certificate}.pem`) }
}

/**
 * Starts an https server for `localhost` and `vendor.test` only; its certificate may be
 * one that expired in 2021.
 */
export async function httpsServer(
  listener: RequestListener,
  certificate?: 'server' | 'expired',
): Promise<TestServer> {
  const server = await started(createServer(identity(certificate), listener))
  return { ...server, url: `https://localhost:${server.port}` }
}
