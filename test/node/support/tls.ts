import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { started, type TestServer } from './servers.ts'

const folder = new URL('../../fixtures/tls/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')

/**
 * An https server for `localhost` and `vendor.test`, and for no other name; its certificate may be
 * one that ended in 2021.
 */
export async function httpsServer(
  listener: RequestListener,
  certificate: 'server' | 'expired' = 'server',
): Promise<TestServer> {
  const server = await started(
    createServer({ key: read('server.key'), cert: read(`${certificate}.pem`) }, listener),
  )
  return { ...server, url: `https://localhost:${server.port}` }
}
