import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'
import { repository } from './processes.ts'

/** Where and of what figures were measured. */
export interface Machine {
  /** ISO date. */
  readonly date: string
  readonly node: string
  readonly cpu: string
  /** The commit that was measured, with a plus sign when files differ from it. */
  readonly commit: string
}

export function readMachine(): Machine {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim()
  const isChanged = git('status', '--porcelain', 'src', 'adapters', 'package-lock.json') !== ''
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    cpu: `${cpus().length} x ${cpus()[0]?.model.trim()}`,
    commit: git('rev-parse', '--short', 'HEAD') + (isChanged ? '+' : ''),
  }
}
