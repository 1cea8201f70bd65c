import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** The files of a built package. */
export interface Package {
  readonly executable: string
  readonly migrations: string
}

/** The package that `test/support/build.ts` builds for all files of a run. No test may change it. */
export const built: Package = packageIn(process.env['BUILT_GATEWAY'] ?? '')

/** Copies the package, for a test that changes its files. */
export function copyPackage(): Package & { remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-package-'))
  cpSync(process.env['BUILT_GATEWAY'] ?? '', folder, { recursive: true })
  return { ...packageIn(folder), remove: () => rmSync(folder, { recursive: true }) }
}

function packageIn(folder: string): Package {
  const dist = join(folder, 'dist')
  return { executable: join(dist, 'gateway.js'), migrations: join(dist, 'migrations') }
}

/** A running command and its output so far. */
export interface Command {
  readonly process: ChildProcess
  readonly output: { stdout: string; stderr: string }
  /** Resolves with the match when standard output contains `pattern`. */
  until(pattern: RegExp): Promise<RegExpExecArray>
}

export interface Setting {
  readonly env?: Readonly<Record<string, string>>
  /** Written to config.toml in the working directory. */
  readonly config?: string
  /** The program that runs the script. Default: this Node. */
  readonly executable?: string
  /** Maximum size of its files, in blocks of 1,024 bytes. */
  readonly blocks?: number | undefined
}

/** Runs a script in an empty folder with an empty environment. */
export function command(script: readonly string[], setting: Setting = {}): Command {
  const { env = {}, config, executable = process.execPath, blocks } = setting
  const cwd = mkdtempSync(join(tmpdir(), 'gateway-cli-'))
  if (config !== undefined) writeFileSync(join(cwd, 'config.toml'), config)
  const [program, ...args] = limited([executable, ...script], blocks)
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
    rmSync(cwd, { recursive: true })
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  const until = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(output.stdout)
        if (match) resolve(match)
      }
      child.stdout.on('data', look)
      child.once('close', () => reject(new Error(`it has ended: ${JSON.stringify(output)}`)))
      look()
    })
  return { process: child, output, until }
}

/** Wraps a command line so that its process has a file size limit. */
function limited(
  line: readonly [string, ...string[]],
  blocks: number | undefined,
): readonly [string, ...string[]] {
  if (blocks === undefined) return line
  return ['bash', '-c', `ulimit -f ${blocks} && exec "$@"`, 'bash', ...line]
}

/** Resolves to the exit code and output of a command after it has ended. */
export async function finished({ process: child, output }: Command) {
  const hasEnded = child.exitCode !== null || child.signalCode !== null
  if (!hasEnded) await new Promise((resolve) => child.once('close', resolve))
  return { code: child.exitCode, ...output }
}
