import { readdirSync, readFileSync } from 'node:fs'

/** Returns the processor time of a process so far, all threads, in milliseconds. */
export function cpuMillis(pid: number): number {
  // Finer than the ticks of `stat`: one tick is a tenth of a short round.
  const nanos = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
  )
  return nanos.reduce((sum, each) => sum + each, 0) / 1e6
}

/** Returns a process and all processes below it. */
export function listFamily(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean),
  )
  return [pid, ...children.flatMap((child) => listFamily(Number(child)))]
}

/** Returns the processor time of all processes of the machine, in whole ticks. */
export function machineCpuMillis(): number {
  const [, user, nice, system] = readFileSync('/proc/stat', 'latin1').split(/ +/)
  return (Number(user) + Number(nice) + Number(system)) * millisPerTick
}

/** Returns the resident memory of a process in megabytes (10^6 bytes). */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Returns the quantile `share` (0 to 1) of the values; NaN when there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

// USER_HZ is 100 on every Linux that Node runs on.
const millisPerTick = 10
