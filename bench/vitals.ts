import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Measurements of a process since the last request for them. */
export interface Vitals {
  readonly stall: number
  readonly busy: number
  readonly cpu: number
  readonly memory: number
  readonly peak: number
}

/** Sends the vitals of this process to its parent on every message. */
export function tellVitals(): void {
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
}
