import { spawn } from 'node:child_process'

export interface CommandOptions {
  readonly cwd: string
  /** The whole environment, apart from `PATH`. */
  readonly env: Readonly<Record<string, string>>
  /** Milliseconds after which the command is killed. */
  readonly limit: number
}

export interface Finished {
  /** Null when the command was killed. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command to its end, without input. */
export async function runCommand(
  [file, ...args]: readonly [string, ...string[]],
  { cwd, env, limit }: CommandOptions,
): Promise<Finished> {
  const child = spawn(file, args, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limit,
    killSignal: 'SIGKILL',
  })
  const [stdout, stderr, code] = await Promise.all([
    child.stdout.toArray(),
    child.stderr.toArray(),
    new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject)),
  ])
  return { code, stdout: toText(stdout), stderr: toText(stderr) }
}

function toText(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString()
}
