import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { onTestFinished } from 'vitest'

/**
 * The shipped executable: a file in `dist` with the module of the database thread, the
 * migrations, and the demo configuration beside the folder.
 */
export interface Package {
  readonly executable: string
  readonly migrations: string
  remove(): void
}

const repository = fileURLToPath(new URL('../../../', import.meta.url))

export async function buildPackage(): Promise<Package> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-package-'))
  const executable = join(folder, 'dist', 'gateway.js')
  await build({
    entryPoints: {
      gateway: join(repository, 'adapters/node/bin.mjs'),
      main: join(repository, 'adapters/node/main.ts'),
      worker: join(repository, 'adapters/node/workers/worker.ts'),
      'store-worker': join(repository, 'adapters/node/store/worker.ts'),
    },
    outdir: join(folder, 'dist'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['libsql'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  })
  const migrations = join(folder, 'dist', 'migrations')
  cpSync(join(repository, 'src/store/migrations'), migrations, { recursive: true })
  const functions = join(folder, 'dist', 'functions')
  cpSync(join(repository, 'src/shared/functions'), functions, { recursive: true })
  // A native library stays a package.
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  copyFileSync(join(repository, 'demo.toml'), join(folder, 'demo.toml'))
  return { executable, migrations, remove: () => rmSync(folder, { recursive: true }) }
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
