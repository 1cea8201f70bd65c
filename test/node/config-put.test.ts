import {
  chmodSync,
  chownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { built } from './support/command.ts'
import { configFolder, shippedGateway } from './support/shipped-gateway.ts'
import { folder } from './support/store.ts'

/*
 * The shipped executable, with a configuration file on a disk that clients replace over HTTP.
 */

const isRoot = process.getuid?.() === 0
const nobody = 65_534

/** A configuration whose model has this name, long enough to reveal a partly written file. */
function makeConfig(name: string): string {
  return `[auth]
enabled = true
[[providers]]
name = "demo"
kind = "demo"
[[providers.models]]
id = "${name}"
${'# filling\n'.repeat(5_000)}# ${name}
`
}

/** Returns the name in a configuration; fails unless it is complete. */
function readName(text: string): string {
  const name = /id = "(.*)"/.exec(text)?.[1] ?? ''
  expect(text).toBe(makeConfig(name))
  return name
}

function setting(name = 'first') {
  const { home, path } = configFolder(makeConfig(name))
  return { home, path, names: () => readdirSync(home).sort() }
}

async function running(path: string, script: string = built.executable) {
  const gateway = await shippedGateway(script, path)
  const { admin } = gateway
  return {
    ...gateway,
    hash: async (): Promise<string> => (await (await admin('GET', '/admin/config')).json()).hash,
    put: (name: string, hash: string) =>
      admin('PUT', '/admin/config', makeConfig(name), { 'if-match': hash }),
  }
}

/** Writes a script that runs the executable as the unprivileged user `nobody`. */
function asNobody(): string {
  const place = folder()
  chmodSync(place, 0o755)
  const script = join(place, 'as-nobody.mjs')
  const become = `process.setgid(${nobody})\nprocess.setuid(${nobody})\n`
  writeFileSync(script, `${become}await import(${JSON.stringify(built.executable)})`)
  return script
}

function read(path: string): string {
  return readFileSync(path, 'utf8')
}

describe('PUT /admin/config', () => {
  test('a PUT replaces the file, keeps a backup and the permissions, and serves the change before it responds', async () => {
    const { path, names } = setting()
    chmodSync(path, 0o640)
    if (isRoot) chownSync(path, 1234, 5678)
    const { hash, put, models } = await running(path)
    for (const name of ['second', 'third']) {
      expect((await put(name, await hash())).status).toBe(204)
      expect(await models()).toEqual([name])
    }
    expect([readName(read(path)), readName(read(`${path}.bak`))]).toEqual(['third', 'second'])
    for (const file of [path, `${path}.bak`]) {
      expect(statSync(file).mode & 0o777).toBe(0o640)
      if (isRoot) expect(statSync(file)).toMatchObject({ uid: 1234, gid: 5678 })
    }
    expect(names()).toEqual(['config.toml', 'config.toml.bak'])
  })

  test('a PUT replaces a symbolic link by a file, and the path is still watched', async () => {
    const { home, path } = setting()
    const link = join(home, 'link.toml')
    symlinkSync('config.toml', link)
    const { hash, put, models } = await running(link)
    expect((await put('second', await hash())).status).toBe(204)
    expect(lstatSync(link).isSymbolicLink()).toBe(false)
    expect([readName(read(link)), readName(read(path))]).toEqual(['second', 'first'])
    writeFileSync(link, makeConfig('third'))
    await expect.poll(models, { timeout: 10_000 }).toEqual(['third'])
  })

  test('an invalid configuration leaves only the file, unchanged, and the error names no path', async () => {
    const { path, names } = setting()
    const { hash, admin, output } = await running(path)
    const body = makeConfig('second').replace('kind = "demo"', 'kind = "dmo"')
    const answer = await admin('PUT', '/admin/config', body, { 'if-match': await hash() })
    const { error } = await answer.json()
    expect(error).toMatchObject({ code: 'LM-1001', param: 'providers[0].kind' })
    expect(readName(read(path))).toBe('first')
    expect(names()).toEqual(['config.toml'])
    expect(error.message + output.stdout).not.toContain('staged')
  })

  test.runIf(isRoot && process.platform === 'linux')(
    'a PUT in a read-only folder is LM-5001, and no message holds a path',
    async () => {
      const { home, path } = setting()
      chmodSync(home, 0o555)
      // The superuser could write despite the permissions.
      const { hash, put, output, models, until } = await running(path, asNobody())
      const answer = await put('second', await hash())
      expect(answer.status).toBe(500)
      const { error } = await answer.json()
      expect(error).toMatchObject({ code: 'LM-5001', message: 'internal error' })
      expect([readName(read(path)), await models()]).toEqual(['first', ['first']])
      await until(new RegExp(error.request_id))
      expect(output.stdout).not.toMatch(/staged|\.config\.toml/)
      expect(readdirSync(home)).toEqual(['config.toml'])
    },
  )
})

test('of a hundred concurrent PUTs exactly one wins each round, and the file is always complete', async () => {
  const { path, names } = setting()
  const { hash, put, models } = await running(path)
  const race = { isOver: false }
  const seen = new Set<string>()
  const watching = (async () => {
    for (; !race.isOver; await sleep(1)) seen.add(readName(read(path)))
  })()
  const winners = ['first']
  for (let round = 0; round < 3; round++) {
    const known = await hash()
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, racer) => put(`m-${round}-${racer}`, known)),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([204, ...Array(99).fill(412)])
    winners.push(`m-${round}-${statuses.indexOf(204)}`)
    expect(readName(read(path))).toBe(winners.at(-1))
    expect(await models()).toEqual(winners.slice(-1))
  }
  race.isOver = true
  await watching
  expect(winners).toEqual(expect.arrayContaining([...seen]))
  expect(names()).toEqual(['config.toml', 'config.toml.bak'])
})

test('a gateway that is killed while it replaces the file leaves one that it starts with', async () => {
  const { home, path } = setting('m-0')
  let version = 0
  let name = 'm-0'
  // Continues on a slow machine until the file has been replaced once.
  for (let kill = 0; kill < 6 || name === 'm-0'; kill++) {
    const { hash, put, process: child } = await running(path)
    const gone = new Promise((resolve) => child.once('close', resolve))
    let acknowledged = readName(read(path))
    const putting = (async () => {
      for (;;) {
        const known = await hash()
        version += 1
        const { status } = await put(`m-${version}`, known)
        expect(status).toBe(204)
        acknowledged = `m-${version}`
      }
    })().catch(() => {})
    await sleep(30 + kill * 17)
    child.kill('SIGKILL')
    await Promise.all([gone, putting])
    name = readName(read(path))
    // An acknowledged change is in the file; the one in progress may be.
    expect([acknowledged, `m-${version}`]).toContain(name)
    if (name !== 'm-0') readName(read(`${path}.bak`))
  }
  const { models } = await running(path)
  expect(await models()).toEqual([readName(read(path))])
  const strays = readdirSync(home).filter((entry) =>
    /^\.config\.toml\.[0-9a-f]{16}\.staged$/.test(entry),
  )
  expect(readdirSync(home).sort()).toEqual([...strays.sort(), 'config.toml', 'config.toml.bak'])
}, 60_000)
