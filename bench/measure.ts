import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds of processor time that a process has used so far, all its threads together. */
export function cpuMillis(pid: number): number {
  // Finer than the ticks of `stat`, which are as long as a tenth of a short round.
  const nanos = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
  )
  return nanos.reduce((sum, each) => sum + each, 0) / 1e6
}

/** The same for all processes of the machine together, in whole ticks. */
export function machineCpuMillis(): number {
  const [, user, nice, system] = readFileSync('/proc/stat', 'latin1').split(/ +/)
  return (Number(user) + Number(nice) + Number(system)) * millisPerTick
}

/** Resident memory of a process in megabytes (10^6 bytes). */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value below which `share` of the values lie; NaN when there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

// USER_HZ is 100 on every Linux that Node runs on.
const millisPerTick = 10
