import { execFileSync } from 'node:child_process'
import type { Bytes } from '../../src/core/ids.ts'
import { masterKey } from '../gateway.ts'

/** What a request with a key that has every limit costs with a shared state. */
export interface SharedCost {
  /** Processor time of the gateway, in microseconds, all threads. */
  readonly gateway: number
  /** Time of its admission and its settlement on the server, in microseconds. */
  readonly server: number
  /** Memory on the server for each key that is in use. */
  readonly bytesPerKey: Bytes
}

/**
 * Returns the average time that a Redis server has spent on a request so far, in microseconds. A command
 * serves several requests, each of which has one lease.
 */
export function readTimePerRequest(redisPort: number): number {
  const stats = readInfo(redisPort, 'commandstats')
  const micros = Number(/^cmdstat_fcall:calls=\d+,usec=(\d+)/m.exec(stats)?.[1])
  const leases = Number(/^cmdstat_zadd:calls=(\d+)/m.exec(stats)?.[1])
  return micros / leases
}

/** Uses new keys once each, and returns what the server keeps of each of them. */
export async function measureSharedKeys(
  { port, redisPort }: { readonly port: number; readonly redisPort: number },
  count: number,
): Promise<Bytes> {
  const send = async (path: string, key: string, body: object) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    return response.json()
  }
  const limits = { budget_max: 100, rpm_limit: 600, tpm_limit: 1e6, max_parallel: 10 }
  const before = readMemory(redisPort)
  for (let at = 0; at < count; at++) {
    // The answer of the admin API to a creation.
    const { key } = (await send('/admin/keys', masterKey, { name: `key ${at}`, ...limits })) as {
      readonly key: string
    }
    await send('/v1/chat/completions', key, {
      model: 'bench',
      messages: [{ role: 'user', content: 'Hello' }],
    })
  }
  return (readMemory(redisPort) - before) / count
}

function readMemory(redisPort: number): Bytes {
  return Number(/^used_memory:(\d+)/m.exec(readInfo(redisPort, 'memory'))?.[1])
}

function readInfo(redisPort: number, section: string): string {
  return execFileSync('redis-cli', ['-p', String(redisPort), 'info', section], { encoding: 'utf8' })
}
