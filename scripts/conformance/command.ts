import { spawn } from 'node:child_process'

export interface CommandOptions {
  readonly cwd: string
  /** The whole environment, apart from `PATH`. */
  readonly env: Readonly<Record<string, string>>
  /** Milliseconds after which the command is killed. */
  readonly limit: number
}

export interface Finished {
  /** How the command ended: `exit code 1`, `signal SIGTERM`, or its time limit. Undefined for exit code 0. */
  readonly failure: string | undefined
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs a command to its end, without input. It has a process group of its own, which is killed when the command ends
 * and at its limit: the commands of agents have children, and a child that lives on would keep the output open.
 */
export async function runCommand(
  [file, ...args]: readonly [string, ...string[]],
  { cwd, env, limit }: CommandOptions,
): Promise<Finished> {
  const child = spawn(file, args, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const killGroup = () => {
    if (child.pid !== undefined) killProcessGroup(child.pid)
  }
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    killGroup()
  }, limit)
  child.once('exit', killGroup)
  try {
    const [stdout, stderr, failure] = await Promise.all([
      child.stdout.toArray(),
      child.stderr.toArray(),
      new Promise<string | undefined>((resolve, reject) => {
        child.once('close', (code, signal) => resolve(describeEnd(code, signal)))
        child.once('error', reject)
      }),
    ])
    const late = isLate ? `its time limit of ${limit / 1000} s` : undefined
    return { failure: late ?? failure, stdout: toText(stdout), stderr: toText(stderr) }
  } finally {
    clearTimeout(timer)
  }
}

function describeEnd(code: number | null, signal: NodeJS.Signals | null): string | undefined {
  if (code === 0) return undefined
  return code === null ? `signal ${signal}` : `exit code ${code}`
}

function killProcessGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch (error) {
    // No process of the group is left.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function toText(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString()
}
