/** The gateway that is asked for embeddings: a process of its own, which tells how it fares. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { nodePorts, serve } from '../adapters/node/index.ts'
import { createGateway } from '../src/index.ts'

/** What the gateway's process tells when it is asked. */
export interface Vitals {
  readonly stall: number
  readonly busy: number
  readonly cpu: number
  readonly memory: number
  readonly peak: number
}

const { values: options } = parseArgs({ options: { upstream: { type: 'string' } } })

process.once('disconnect', () => process.exit())
const gateway = await createGateway({
  ...nodePorts({ GATEWAY_LOG_LEVEL: 'error' }),
  config: `
[[providers]]
name = "upstream"
kind = "openai"
base_url = "http://127.0.0.1:${options.upstream}/v1"
[[providers.models]]
id = "m"
capabilities = ["embed"]
`,
})
const host = await serve(gateway, { port: 0 })
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
let busy = 0
let turn = process.cpuUsage()
setInterval(() => {
  const { user, system } = process.cpuUsage(turn)
  busy = Math.max(busy, (user + system) / 1000)
  turn = process.cpuUsage()
}, 1)
let before = process.cpuUsage()
process.on('message', () => {
  const { user, system } = process.cpuUsage(before)
  const vitals: Vitals = {
    stall: delay.max / 1e6,
    busy,
    cpu: (user + system) / 1000,
    memory: process.memoryUsage.rss(),
    peak: process.resourceUsage().maxRSS * 1024,
  }
  process.send?.(vitals, () => {
    delay.reset()
    busy = 0
    before = process.cpuUsage()
  })
})
process.send?.(Number(new URL(host.address).port))
