import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createKeys } from '../harness/accounts.ts'
import { endGateways } from '../harness/ended.ts'
import { createGateway } from '../harness/gateway.ts'
import { Load } from '../harness/load.ts'
import { startUpstream } from '../harness/upstream.ts'
import type { Outcome, Part, PartOptions } from '../part.ts'

export const disk: Part = {
  name: 'disk',
  title: 'The disk filled',
  text: `The database is on a file system of 48 MB, which another file fills to the last byte for 5 seconds at a
time under 64 connections, so that neither the database nor the journal can be written. No request may fail. 5
seconds after there is room again, the gateway is killed: by then every row must be saved.`,
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-proof-disk-'))
    if (!mount(folder)) return { skipped: 'it needs the right to mount a tmpfs: run it as root' }
    try {
      return await fill(folder, options)
    } finally {
      execFileSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true })
    }
  },
}

async function fill(home: string, { rounds, progress }: PartOptions): Promise<Outcome> {
  const gateway = await createGateway({
    upstreamPort: await startUpstream(),
    home,
    // No row is dropped while the disk is full.
    auth: 'usage_channel_capacity = 200000',
  })
  await gateway.start()
  const keys = await createKeys(gateway)
  const load = new Load({ connections: 64, keys, ports: [gateway.port] })
  const filler = join(home, 'filler')
  const times = Math.max(1, Math.round(rounds / 8))
  let unjournaled = 0
  for (let time = 1; time <= times; time++) {
    await sleep(1_000)
    writeUntilFull(filler)
    await sleep(5_000)
    rmSync(filler)
    // The journal and the database try again within two intervals.
    await sleep(5_000)
    unjournaled += await gateway.metric('gateway_usage_unjournaled_total')
    await gateway.kill()
    await gateway.start()
    progress(`filled ${time} times, ${load.seen.length} requests`)
  }
  await load.stop()
  const ended = await endGateways({ gateways: [gateway], load, path: gateway.database })
  return {
    figures: [
      { title: 'times that the disk was full for 5 seconds', value: times },
      { title: 'rows that were only in memory then', value: unjournaled, holds: unjournaled > 0 },
      ...ended,
    ],
  }
}

function mount(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function writeUntilFull(path: string): void {
  const descriptor = openSync(path, 'w')
  try {
    for (let size = 1024 * 1024; size >= 1; ) {
      try {
        writeSync(descriptor, Buffer.alloc(size))
      } catch {
        size = Math.floor(size / 2)
      }
    }
  } finally {
    closeSync(descriptor)
  }
}
