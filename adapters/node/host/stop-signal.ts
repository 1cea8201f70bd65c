import { exit } from './exit.ts'

/** Resolves at the first SIGTERM or SIGINT; the second one ends the process at once. */
export function waitForStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false
    const stop = () => {
      if (isStopping) void exit(1)
      isStopping = true
      resolve()
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
}
