import { blake3 } from '@noble/hashes/blake3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { describe, expect, test } from 'vitest'
import { type ConfigFile, textAsFile } from '../../src/core/config-file.ts'
import type { ConfigReloader } from '../../src/reload/index.ts'
import { type TextValidation, testReloader } from '../support/config-reloader.ts'
import { isPending } from '../support/pending.ts'

const encoder = new TextEncoder()

/** A file in memory, which counts what happens to it. */
class MemoryFile implements ConfigFile {
  bytes: Uint8Array
  staged = 0
  commits = 0
  isReadOnly = false
  isMissing = false

  constructor(text: string) {
    this.bytes = encoder.encode(text)
  }

  get text(): string {
    return new TextDecoder().decode(this.bytes)
  }

  write(text: string): void {
    this.bytes = encoder.encode(text)
  }

  async read(): Promise<Uint8Array> {
    if (this.isMissing) throw systemError('ENOENT')
    return this.bytes
  }

  async stage(bytes: Uint8Array) {
    if (this.isReadOnly) throw systemError('EROFS')
    this.staged++
    let isOver = false
    return {
      commit: async () => {
        this.bytes = bytes
        this.commits++
      },
      discard: async () => {
        if (!isOver) this.staged--
        isOver = true
      },
    }
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: open '/etc/gateway/secret-place.toml'`), { code })
}

const invalidText: TextValidation = {
  ok: false,
  problems: [{ setting: 'server.port', line: 3, message: 'must not be 0' }],
}

interface OpenOptions {
  readonly validate?: (text: string, file: MemoryFile) => Promise<TextValidation>
  readonly adopt?: (text: string, file: MemoryFile) => void
}

/** A reloader that accepts every text except those that begin with `bad`. */
async function open(text = 'first', { validate, adopt }: OpenOptions = {}) {
  const file = new MemoryFile(text)
  const served = [text]
  const validated: string[] = []
  const lines: string[] = []
  const reloader = await testReloader({
    file,
    text,
    async validate(candidate) {
      validated.push(candidate)
      if (validate) return validate(candidate, file)
      return candidate.startsWith('bad') ? invalidText : { ok: true }
    },
    adopt(candidate) {
      adopt?.(candidate, file)
      served.push(candidate)
    },
    log: (line) => lines.push(line),
  })
  /** The lines of the log since the last call. */
  const logged = () => lines.splice(0)
  return { file, served, validated, logged, reloader }
}

const put = (reloader: ConfigReloader, text: string, hash: string | null) =>
  reloader.put(encoder.encode(text), hash)

const computeHash = (text: string | Uint8Array) =>
  bytesToHex(blake3(typeof text === 'string' ? encoder.encode(text) : text))

const refusal = 'error the configuration is refused: server.port (line 3): must not be 0'
const reloaded = 'info configuration reloaded'

describe('reading', () => {
  test('get returns the exact text of the file, and BLAKE3 of its bytes', async () => {
    const text = '\uFEFF# é "x"\r\n\t[server]\r\nport = 1\n\n'
    const { reloader } = await open(text)
    expect(await reloader.get()).toEqual({ config: text, hash: computeHash(text) })
    expect(computeHash('')).toBe('af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262')
  })

  test('get shows bytes that are not UTF-8 as U+FFFD, with the hash of the bytes', async () => {
    const { reloader, file } = await open()
    file.bytes = new Uint8Array([0x61, 0xff, 0x62])
    expect(await reloader.get()).toEqual({ config: 'a\uFFFDb', hash: computeHash(file.bytes) })
  })

  test('get returns the current file, even while an older one is running', async () => {
    const { reloader, file } = await open('first')
    file.write('edited')
    expect((await reloader.get()).config).toBe('edited')
  })
})

describe('replacing', () => {
  test('a valid configuration is in the file and in force when put resolves', async () => {
    const { reloader, file, served, logged } = await open('first')
    expect(await put(reloader, 'second', computeHash('first'))).toBe(computeHash('second'))
    expect(file).toMatchObject({ text: 'second', staged: 0, commits: 1 })
    expect(served).toEqual(['first', 'second'])
    expect(logged()).toEqual([reloaded])
  })

  test('a configuration takes over only after the file has been replaced', async () => {
    const seen: string[] = []
    const { reloader } = await open('first', { adopt: (_, file) => void seen.push(file.text) })
    await put(reloader, 'second', computeHash('first'))
    expect(seen).toEqual(['second'])
  })

  test.each([
    ['bare', (hash: string) => hash],
    ['quoted', (hash: string) => `"${hash}"`],
  ])('the hash in If-Match may be %s', async (_, written) => {
    const { reloader, file } = await open('first')
    await put(reloader, 'second', written(computeHash('first')))
    expect(file.text).toBe('second')
  })

  test.each([
    ['missing', null, 'If-Match is missing'],
    ['empty', '', 'If-Match is missing'],
    ['an empty tag', '""', 'If-Match is missing'],
    ['a wildcard', '*', 'If-Match must be the hash of the file: * is'],
    ['a quoted wildcard', '"*"', 'If-Match must be the hash of the file: * is'],
    ['weak', `W/"${computeHash('first')}"`, 'If-Match must be the hash of the file: a weak tag'],
  ])('an If-Match that is %s is refused with LM-1001', async (_, ifMatch, message) => {
    const { reloader, file } = await open('first')
    await expect(put(reloader, 'second', ifMatch)).rejects.toMatchObject({
      code: 'LM-1001',
      message: expect.stringContaining(message),
    })
    expect(file).toMatchObject({ text: 'first', staged: 0 })
  })

  test.each(['0'.repeat(64), 'abc', computeHash('other'), `"${computeHash('first')}", "x"`])(
    'an If-Match that differs from the hash of the file is refused with LM-1004: %s',
    async (ifMatch) => {
      const { reloader, file, validated } = await open('first')
      await expect(put(reloader, 'second', ifMatch)).rejects.toMatchObject({ code: 'LM-1004' })
      expect(file).toMatchObject({ text: 'first', staged: 0, commits: 0 })
      expect(validated).toEqual([])
    },
  )

  test.each(['', ' \r\n\t', '\uFEFF\n'])('a blank body is refused: %j', async (text) => {
    const { reloader, file } = await open('first')
    await expect(put(reloader, text, computeHash('first'))).rejects.toMatchObject({
      code: 'LM-1001',
      message: 'the configuration is empty',
    })
    expect(file.commits).toBe(0)
  })

  test('a body of more than 1 MiB is refused before it is parsed', async () => {
    const { reloader, file, validated } = await open('first')
    const tooLong = '#'.repeat(1024 * 1024 + 1)
    await expect(put(reloader, tooLong, computeHash('first'))).rejects.toMatchObject({
      code: 'LM-1002',
      message: 'the configuration is over the limit of 1048576 bytes',
    })
    expect(validated).toEqual([])
    expect(file).toMatchObject({ text: 'first', staged: 0 })
    await put(reloader, '#'.repeat(1024 * 1024), computeHash('first'))
  })

  test('a body that is not UTF-8 is refused', async () => {
    const { reloader } = await open('first')
    const body = new Uint8Array([0x61, 0xff])
    await expect(reloader.put(body, computeHash('first'))).rejects.toMatchObject({
      code: 'LM-1001',
    })
  })

  test('an invalid configuration is refused with its setting and line, and changes nothing', async () => {
    const { reloader, file, served, validated, logged } = await open('first')
    await expect(put(reloader, 'bad', computeHash('first'))).rejects.toMatchObject({
      code: 'LM-1001',
      message: 'the configuration is refused: server.port (line 3): must not be 0',
      detail: { param: 'server.port' },
    })
    expect(file).toMatchObject({ text: 'first', staged: 0, commits: 0 })
    await reloader.refresh()
    expect(validated).toEqual(['bad'])
    expect(served).toEqual(['first'])
    expect(logged()).toEqual([])
  })

  test('an error lists the first 20 problems and counts the rest', async () => {
    const problems = Array.from({ length: 25 }, (_, at) => ({ setting: `s${at}`, message: 'no' }))
    const { reloader } = await open('first', { validate: async () => ({ ok: false, problems }) })
    const error = await put(reloader, 'second', computeHash('first')).catch(
      (reason: Error) => reason,
    )
    expect(String(error)).toContain('s19: no; and 5 more')
    expect(String(error)).not.toContain('s20')
  })

  test('a validation that fails leaves everything as it was', async () => {
    const { reloader, file } = await open('first', {
      validate: () => Promise.reject(new Error('the store is gone')),
    })
    await expect(put(reloader, 'second', computeHash('first'))).rejects.toThrow('the store is gone')
    expect(file).toMatchObject({ text: 'first', staged: 0, commits: 0 })
  })

  test('a read-only folder leaves everything as it was', async () => {
    const { reloader, file, validated } = await open('first')
    file.isReadOnly = true
    await expect(put(reloader, 'second', computeHash('first'))).rejects.toMatchObject({
      code: 'EROFS',
    })
    expect(file.text).toBe('first')
    expect(validated).toEqual([])
  })

  test('an edit of the file during the validation is not overwritten', async () => {
    const { reloader, file } = await open('first', {
      async validate(_, edited) {
        edited.write('edited')
        return { ok: true }
      },
    })
    await expect(put(reloader, 'second', computeHash('first'))).rejects.toMatchObject({
      code: 'LM-1004',
    })
    expect(file).toMatchObject({ text: 'edited', staged: 0, commits: 0 })
  })

  test('exactly one of a hundred replacements of the same hash wins, in every round', async () => {
    const { reloader, file, served } = await open('round 0')
    for (let round = 1; round <= 5; round++) {
      const { hash } = await reloader.get()
      const outcomes = await Promise.allSettled(
        Array.from({ length: 100 }, (_, racer) => put(reloader, `${round}.${racer}`, hash)),
      )
      const lost = outcomes.filter((outcome) => outcome.status === 'rejected')
      expect(lost).toHaveLength(99)
      expect(lost.every(({ reason }) => reason.code === 'LM-1004')).toBe(true)
      expect(file.commits).toBe(round)
      expect(served.at(-1)).toBe(file.text)
    }
    expect(file.staged).toBe(0)
  })

  test('a valid configuration that fails to take over is tried again by the next refresh', async () => {
    let isBroken = true
    const { reloader, file, served } = await open('first', {
      adopt() {
        if (isBroken) throw new Error('no memory')
      },
    })
    await expect(put(reloader, 'second', computeHash('first'))).rejects.toThrow('no memory')
    expect(file).toMatchObject({ text: 'second', staged: 0 })
    isBroken = false
    await reloader.refresh()
    expect(served).toEqual(['first', 'second'])
  })

  test('a configuration that was given as text can be read but not replaced', async () => {
    const reloader = await testReloader({ file: textAsFile('first'), text: 'first' })
    expect((await reloader.get()).config).toBe('first')
    await expect(put(reloader, 'second', computeHash('first'))).rejects.toMatchObject({
      code: 'LM-1001',
      message: expect.stringContaining('there is no file to replace'),
    })
  })
})

describe('reloading', () => {
  test('a reload serves the current file', async () => {
    const { reloader, file, served, logged } = await open('first')
    file.write('second')
    await reloader.reload()
    expect(served).toEqual(['first', 'second'])
    expect(reloader.config.server.cors_origins).toEqual(['second'])
    expect(logged()).toEqual([reloaded])
  })

  test('a snapshot stays in force until its successor takes over', async () => {
    let seen: unknown
    const { reloader } = await open('first', {
      adopt: () => {
        seen = reloader.snapshot
      },
    })
    const { snapshot } = reloader
    await reloader.reload()
    expect(seen).toBe(snapshot)
    expect(reloader.snapshot).not.toBe(snapshot)
  })

  test('a reload validates an unchanged file again, because secrets may have changed', async () => {
    const { reloader, validated, served } = await open('first')
    await reloader.reload()
    expect(validated).toEqual(['first'])
    expect(served).toEqual(['first', 'first'])
  })

  test('a refresh does nothing when the file has not changed since its last validation', async () => {
    const { reloader, file, validated, served } = await open('first')
    await reloader.refresh()
    expect(validated).toEqual([])
    file.write('second')
    await reloader.refresh()
    await reloader.refresh()
    await put(reloader, 'third', computeHash('second'))
    await reloader.refresh()
    expect(validated).toEqual(['second', 'third'])
    expect(served).toEqual(['first', 'second', 'third'])
  })

  test('an invalid file changes nothing, and only the first refresh and each reload log it', async () => {
    const { reloader, file, served, logged } = await open('first')
    file.write('bad')
    await reloader.refresh()
    expect(logged()).toEqual([refusal])
    await reloader.refresh()
    expect(logged()).toEqual([])
    await reloader.reload()
    expect(logged()).toEqual([refusal])
    expect(served).toEqual(['first'])
  })

  test('a file that returns to its running content is served, not refused', async () => {
    const { reloader, file, served, logged } = await open('first')
    file.write('bad')
    await reloader.refresh()
    file.write('first')
    await reloader.refresh()
    expect(served).toEqual(['first', 'first'])
    expect(logged()).toEqual([refusal, reloaded])
  })

  test.each([
    ['is empty', (file: MemoryFile) => file.write(' \n')],
    [
      'is not valid UTF-8',
      (file: MemoryFile) => {
        file.bytes = new Uint8Array([0xff])
      },
    ],
    [
      'cannot be read (ENOENT)',
      (file: MemoryFile) => {
        file.isMissing = true
      },
    ],
  ])(
    'a file that %s changes nothing, and is logged once, without its path',
    async (message, spoil) => {
      const { reloader, file, validated, logged } = await open('first')
      spoil(file)
      await reloader.refresh()
      await reloader.refresh()
      expect(logged()).toEqual([
        `error the configuration is refused: the configuration file: ${message}`,
      ])
      expect(validated).toEqual([])
    },
  )

  test('provider keys are reloaded with the running configuration when the file is invalid', async () => {
    const { reloader, file, validated, served } = await open('first')
    file.write('bad')
    await reloader.refresh()
    await reloader.reloadProviderKeys()
    expect(validated).toEqual(['bad', 'bad', 'first'])
    expect(served).toEqual(['first', 'first'])
    await reloader.refresh()
    expect(validated).toHaveLength(3)
  })

  test('the running configuration is the last one served, by replacement or by reload', async () => {
    const { reloader, file, served } = await open('first')
    await put(reloader, 'second', computeHash('first'))
    file.write('bad')
    await reloader.reloadProviderKeys()
    file.write('third')
    await reloader.reload()
    file.write('bad')
    await reloader.reloadProviderKeys()
    expect(served).toEqual(['first', 'second', 'second', 'third', 'third'])
  })

  test('changes run one after the other, and a failed one does not block the next', async () => {
    const running: Array<() => void> = []
    let max = 0
    let now = 0
    const { reloader, file, served } = await open('first', {
      async validate(text) {
        max = Math.max(max, ++now)
        await new Promise<void>((resolve) => running.push(resolve))
        now--
        if (text === 'second') throw new Error('the store is gone')
        return { ok: true }
      },
    })
    const first = reloader.reload()
    const second = put(reloader, 'second', computeHash('first'))
    const third = reloader.reload()
    expect(await isPending(third)).toBe(true)
    expect(running).toHaveLength(1)
    running[0]?.()
    await first
    expect(await isPending(second)).toBe(true)
    running[1]?.()
    await expect(second).rejects.toThrow('the store is gone')
    expect(await isPending(third)).toBe(true)
    running[2]?.()
    await third
    expect(served).toEqual(['first', 'first', 'first'])
    expect(max).toBe(1)
    expect(file.commits).toBe(0)
  })
})
