import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { type NodePorts, nodePorts } from '../../adapters/node/index.ts'
import { createMetrics } from '../../adapters/node/ports/metrics.ts'
import { createGateway } from '../../src/index.ts'
import { series } from '../support/exposition.ts'

const config = '[[providers]]\nname = "d"\nkind = "demo"\nmodels = [{ id = "d" }]'

async function exposition(ports: NodePorts): Promise<string> {
  const gateway = await createGateway({ ...ports, config })
  onTestFinished(async () => void (await gateway.close()))
  return (await gateway.fetch(new Request('http://gateway/metrics'))).text()
}

test('the Node host adds the series of the process and of Node, to each of its gateways', async () => {
  const ports = nodePorts({ GATEWAY_LOG_LEVEL: 'error' })
  onTestFinished(() => ports.close())
  for (const text of [await exposition(ports), await exposition(ports)]) {
    expect(series(text, 'process_resident_memory_bytes')[0]?.value).toBeGreaterThan(1e6)
    expect(series(text, 'process_cpu_seconds_total')).toHaveLength(1)
    expect(series(text, 'process_open_fds')).toHaveLength(1)
    expect(series(text, 'nodejs_eventloop_lag_p99_seconds')).toHaveLength(1)
    expect(text).toContain('# TYPE nodejs_gc_duration_seconds histogram')
    expect(text).toContain('# TYPE gateway_requests_in_flight gauge')
    expect(series(text, 'gateway_build_info')[0]?.labels['node']).toBe(process.version)
  }
})

test('a value that is no number is written as the format has it', async () => {
  const metrics = createMetrics(new Registry())
  const samples = () => [{ labels: { a: 'x Nan' }, value: Number.NaN }]
  metrics.read({ name: 'm', help: 'is Nan', type: 'gauge', samples })
  expect(await metrics.exposition()).toContain(
    '# HELP m is Nan\n# TYPE m gauge\nm{a="x Nan"} NaN\n',
  )
})

test('gateway_event_loop_lag_seconds is the longest pause of the event loop', async () => {
  const ports = nodePorts({ GATEWAY_LOG_LEVEL: 'error' })
  onTestFinished(() => ports.close())
  const { runtime } = ports.metrics()
  await sleep(50)
  const end = performance.now() + 400
  while (performance.now() < end);
  await sleep(50)
  for (const scraper of ['first', 'second']) {
    expect(runtime?.readEventLoopLag(), scraper).toBeGreaterThan(300)
  }
  const [sample] = series(await exposition(ports), 'gateway_event_loop_lag_seconds')
  expect(sample?.value).toBeGreaterThan(0.3)
})
