// `npm start`: builds the gateway, then serves config.toml if it exists, otherwise the demo.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findVersionProblem } from '../adapters/node/node-version.mjs'

const isInstalled = existsSync(new URL('../node_modules/esbuild', import.meta.url))
const problem =
  findVersionProblem(process.versions.node) ??
  (isInstalled ? undefined : 'the packages of Model Gateway are not installed: run npm ci first')

if (problem === undefined) {
  execFileSync(process.execPath, ['scripts/build.mjs', '--no-types'], { stdio: 'inherit' })
  if (!existsSync('config.toml')) process.argv.push('--demo')
  await import('../dist/gateway.js')
} else {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}
