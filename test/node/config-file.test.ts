import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { build } from 'esbuild'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { nodeConfigFile } from '../../adapters/node/ports/config-file.ts'
import { testReloader } from '../support/config-reloader.ts'

const isRoot = process.getuid?.() === 0
const encoder = new TextEncoder()

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-config-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

/** A folder with a configuration file. */
function setting(text = 'first') {
  const home = folder()
  const path = join(home, 'config.toml')
  writeFileSync(path, text)
  const read = (name: string) => readFileSync(join(home, name), 'utf8')
  return { home, path, file: nodeConfigFile(path), read, names: () => readdirSync(home).sort() }
}

async function replace(path: string, text: string): Promise<void> {
  const staged = await nodeConfigFile(path).stage(encoder.encode(text))
  await staged.commit()
  await staged.discard()
}

describe('reading', () => {
  test('reading returns the exact bytes', async () => {
    const { path, file } = setting()
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x0d, 0x0a, 0x00, 0xff])
    writeFileSync(path, bytes)
    expect(Buffer.from(await file.read())).toEqual(bytes)
  })

  test('a missing file is an error', async () => {
    await expect(nodeConfigFile(join(folder(), 'none.toml')).read()).rejects.toMatchObject({
      code: 'ENOENT',
    })
  })
})

describe('replacing', () => {
  test('a staged file lies beside the file, readable by its owner only, and changes nothing', async () => {
    const { home, file, read, names } = setting('first')
    const staged = await file.stage(encoder.encode('second'))
    const [name = '', ...others] = names().filter((one) => one !== 'config.toml')
    expect(others).toEqual([])
    expect(name).toMatch(/^\.config\.toml\.[0-9a-f]{16}\.staged$/)
    expect(statSync(join(home, name)).mode & 0o777).toBe(0o600)
    expect(read(name)).toBe('second')
    expect(read('config.toml')).toBe('first')
    await staged.discard()
    expect(names()).toEqual(['config.toml'])
  })

  test('the previous file is kept as a backup for one generation', async () => {
    const { path, read, names } = setting('first')
    await replace(path, 'second')
    await replace(path, 'third')
    expect(read('config.toml')).toBe('third')
    expect(read('config.toml.bak')).toBe('second')
    expect(names()).toEqual(['config.toml', 'config.toml.bak'])
  })

  test.each([0o644, 0o640, 0o600, 0o664])('the permissions %o are kept', async (mode) => {
    const { home, path } = setting()
    chmodSync(path, mode)
    await replace(path, 'second')
    expect(statSync(path).mode & 0o777).toBe(mode)
    expect(statSync(join(home, 'config.toml.bak')).mode & 0o777).toBe(mode)
  })

  test.runIf(isRoot)('the owner stays', async () => {
    const { home, path } = setting()
    chownSync(path, 1234, 5678)
    await replace(path, 'second')
    expect(statSync(path)).toMatchObject({ uid: 1234, gid: 5678 })
    expect(statSync(join(home, 'config.toml.bak'))).toMatchObject({ uid: 1234, gid: 5678 })
  })

  test('a symbolic link is replaced by a file, and its target stays unchanged', async () => {
    const { home, path } = setting('first')
    const link = join(home, 'link.toml')
    symlinkSync('config.toml', link)
    chmodSync(path, 0o640)
    await replace(link, 'second')
    expect(lstatSync(link).isSymbolicLink()).toBe(false)
    expect(lstatSync(link).mode & 0o777).toBe(0o640)
    expect(readFileSync(link, 'utf8')).toBe('second')
    expect(readFileSync(path, 'utf8')).toBe('first')
    expect(readFileSync(`${link}.bak`, 'utf8')).toBe('first')
  })

  test('a relative path refers to the working directory of the start', async () => {
    const { home, read } = setting('first')
    const before = process.cwd()
    onTestFinished(() => process.chdir(before))
    process.chdir(home)
    const file = nodeConfigFile('config.toml')
    process.chdir(before)
    const staged = await file.stage(encoder.encode('second'))
    await staged.commit()
    expect(read('config.toml')).toBe('second')
  })

  test('a failed commit leaves the file unchanged and no other file', async () => {
    const { home, path, file, read, names } = setting('first')
    // A file cannot replace a folder.
    mkdirSync(`${path}.bak`)
    const staged = await file.stage(encoder.encode('second'))
    await expect(staged.commit()).rejects.toMatchObject({ code: 'EISDIR' })
    await staged.discard()
    expect(read('config.toml')).toBe('first')
    expect(names()).toEqual(['config.toml', 'config.toml.bak'])
    expect(readdirSync(join(home, 'config.toml.bak'))).toEqual([])
  })

  test.each([
    ['ENOSPC', 'writeFile', 1],
    ['EDQUOT', 'writeFile', 1],
    ['ENOSPC', 'sync', 1],
    // Of the backup.
    ['ENOSPC', 'writeFile', 2],
    ['EDQUOT', 'sync', 2],
    // Of the backup, and of the staged file, before their renames.
    ['ENOSPC', 'sync', 3],
    ['ENOSPC', 'sync', 4],
  ] as const)(
    '%s of %s, call %i: the answer names the full disk, and the file stays',
    async (code, method, call) => {
      const { home, file, read, names } = setting('first')
      const reloader = await testReloader({ file, text: 'first' })
      const { hash } = await reloader.get()
      const handle = await open(home, 'r')
      await handle.close()
      const prototype: FileHandle = Object.getPrototypeOf(handle)
      const original = prototype[method] as (...args: unknown[]) => Promise<void>
      let calls = 0
      const failing = vi.spyOn(prototype, method)
      onTestFinished(() => failing.mockRestore())
      failing.mockImplementation(function (this: FileHandle, ...args: unknown[]) {
        calls++
        if (calls === call) return Promise.reject(Object.assign(new Error('write'), { code }))
        return original.apply(this, args)
      })
      await expect(reloader.put(encoder.encode('second'), hash)).rejects.toMatchObject({
        code: 'LM-5003',
        status: 503,
        message: 'the disk is full; try again',
      })
      expect(read('config.toml')).toBe('first')
      expect(names().filter((name) => name !== 'config.toml.bak')).toEqual(['config.toml'])
      await reloader.put(encoder.encode('second'), hash)
      expect(read('config.toml')).toBe('second')
      expect(names()).toEqual(['config.toml', 'config.toml.bak'])
    },
  )

  test('a deleted file is not restored', async () => {
    const { path, file, names } = setting()
    const staged = await file.stage(encoder.encode('second'))
    rmSync(path)
    await expect(staged.commit()).rejects.toMatchObject({ code: 'ENOENT' })
    await staged.discard()
    expect(names()).toEqual([])
  })

  test.skipIf(isRoot)('a folder that is read-only refuses the staging', async () => {
    const { home, file, names } = setting()
    chmodSync(home, 0o500)
    onTestFinished(() => chmodSync(home, 0o700))
    await expect(file.stage(encoder.encode('second'))).rejects.toMatchObject({ code: 'EACCES' })
    expect(names()).toEqual(['config.toml'])
  })

  test.runIf(process.platform === 'linux')('so does a folder that is not for files', async () => {
    const file = nodeConfigFile('/proc/version')
    expect((await file.read()).length).toBeGreaterThan(0)
    const staging = file.stage(encoder.encode('second'))
    await expect(staging).rejects.toMatchObject({ code: expect.stringMatching(/^E/) })
  })
})

test('of a hundred concurrent writes with the same hash exactly one wins, in every round', async () => {
  const { file, read, names } = setting('first')
  const served: string[] = []
  const reloader = await testReloader({ file, text: 'first', adopt: (text) => served.push(text) })
  for (let round = 1; round <= 3; round++) {
    const { hash } = await reloader.get()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, (_, racer) =>
        reloader.put(encoder.encode(`${round}.${racer}`), hash),
      ),
    )
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(lost.map(({ reason }) => reason.code)).toEqual(Array(99).fill('LM-1004'))
    expect(read('config.toml')).toBe(served.at(-1))
  }
  expect(served).toHaveLength(3)
  expect(names()).toEqual(['config.toml', 'config.toml.bak'])
})

test('a process killed while it replaces the file leaves a complete one, the old or the new', async () => {
  const { home, path, names } = setting(`# 0\n`.repeat(50_000))
  const script = join(home, 'replace.mjs')
  await build({
    entryPoints: ['test/node/support/replace-config.ts'],
    outfile: script,
    bundle: true,
    format: 'esm',
    platform: 'node',
  })
  for (let kill = 0; kill < 12; kill++) {
    const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    await wait(kill * 2)
    child.kill('SIGKILL')
    await once(child, 'close')
    for (const name of [path, `${path}.bak`]) {
      const text = readFileSync(name, 'utf8')
      expect(text).toBe(text.slice(0, 4).repeat(50_000))
    }
  }
  const strays = names().filter((name) => /^\.config\.toml\.[0-9a-f]{16}\.staged$/.test(name))
  expect(names()).toEqual([...strays, 'config.toml', 'config.toml.bak', 'replace.mjs'])
})
