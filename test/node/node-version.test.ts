import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { built, command, finished } from './support/command.ts'

/*
 * scripts/nodes.sh asks a real Node 18. Here this Node claims to be another one.
 */

/** Runs a script under a Node that says it is of this version. */
function under(version: string, script: readonly string[]) {
  const claim = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`
  return finished(command(['--import', `data:text/javascript,${claim}`, ...script]))
}

/** A checkout without packages. */
function bareCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-checkout-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const path of ['scripts', 'adapters/node', 'package.json']) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    cpSync(path, join(folder, path), { recursive: true })
  }
  return folder
}

const sentence = (version: string) =>
  `Model Gateway requires Node.js 20.19 or newer; this is ${version}\n`

describe.each([
  ['18.20.8', '18.20'],
  ['20.18.3', '20.18'],
  ['9.11.2', '9.11'],
])('Node %s prints only the required version', (version, shown) => {
  const refused = { code: 1, stdout: '', stderr: sentence(shown) }

  test('the command checks the version', async () => {
    expect(await under(version, [built.executable, '--version'])).toEqual(refused)
  })

  test('npm start checks the version before the packages', async () => {
    expect(await under(version, [join(bareCheckout(), 'scripts/start.mjs')])).toEqual(refused)
  })
})

test.each(['20.19.0', '22.0.0', '100.0.0'])('Node %s runs the gateway', async (version) => {
  expect(await under(version, [built.executable, '--version'])).toMatchObject({ code: 0 })
})

test('the required version is the one in package.json', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(engines.node).toBe('>=20.19')
})

test('npm start without installed packages says what to run', async () => {
  const { code, stderr } = await finished(command([join(bareCheckout(), 'scripts/start.mjs')]))
  expect(code).toBe(1)
  expect(stderr).toBe('the packages of Model Gateway are not installed: run npm ci first\n')
})
