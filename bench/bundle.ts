import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './processes.ts'

export const bundlePath = join(repository, 'dist/gateway.js')

/** Builds the bundle if it is missing or older than a source. Returns false when the build fails. */
export function buildBundle(): boolean {
  if (isFresh()) return true
  try {
    execFileSync('npm', ['run', 'build'], {
      cwd: repository,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  } catch {
    return false
  }
  return existsSync(bundlePath)
}

function isFresh(): boolean {
  if (!existsSync(bundlePath)) return false
  const built = statSync(bundlePath).mtimeMs
  return sources().every((path) => statSync(path).mtimeMs <= built)
}

function sources(): string[] {
  const files = ['src', 'adapters'].flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(repository, folder, path),
    ),
  )
  return [...files, join(repository, 'package-lock.json')]
}
