import { blake3 } from '@noble/hashes/blake3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { describe, expect, test } from 'vitest'
import { ConfigDocument, type Judgement } from '../../src/config/index.ts'
import { type ConfigFile, textAsFile } from '../../src/core/config-file.ts'
import { isPending } from '../support/pending.ts'

const encoder = new TextEncoder()

/** A file in memory, with a history of what happened to it. */
class MemoryFile implements ConfigFile {
  bytes: Uint8Array
  staged = 0
  commits = 0
  readOnly = false
  missing = false

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
    if (this.missing) throw failure('ENOENT')
    return this.bytes
  }

  async stage(bytes: Uint8Array) {
    if (this.readOnly) throw failure('EROFS')
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

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: open '/etc/gateway/secret-place.toml'`), { code })
}

/** A document that takes every text which does not begin with `bad`, and remembers what serves. */
function open(text = 'first', judge?: (text: string) => Promise<Judgement>) {
  const file = new MemoryFile(text)
  const served = [text]
  const judged: string[] = []
  const document = new ConfigDocument({
    file,
    serving: text,
    judge: async (candidate) => {
      judged.push(candidate)
      if (judge) return judge(candidate)
      return candidate.startsWith('bad')
        ? { ok: false, problems: [{ setting: 'server.port', line: 3, message: 'must not be 0' }] }
        : { ok: true, apply: () => void served.push(candidate) }
    },
  })
  return { file, served, judged, document }
}

const put = (document: ConfigDocument, text: string, hash: string | null) =>
  document.put(encoder.encode(text), hash)

const hashOf = (text: string | Uint8Array) =>
  bytesToHex(blake3(typeof text === 'string' ? encoder.encode(text) : text))

describe('reading', () => {
  test('the document is the exact text of the file, and BLAKE3 of its bytes', async () => {
    const text = '\uFEFF# é "x"\r\n\t[server]\r\nport = 1\n\n'
    const { document } = open(text)
    expect(await document.get()).toEqual({ config: text, hash: hashOf(text) })
    expect(hashOf('')).toBe('af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262')
  })

  test('bytes that are no UTF-8 read as replacement characters, under the hash of the file', async () => {
    const { document, file } = open()
    file.bytes = new Uint8Array([0x61, 0xff, 0x62])
    expect(await document.get()).toEqual({ config: 'a\uFFFDb', hash: hashOf(file.bytes) })
  })

  test('it is the file as it is now, not as it serves', async () => {
    const { document, file } = open('first')
    file.write('edited')
    expect((await document.get()).config).toBe('edited')
  })
})

describe('replacing', () => {
  test('a valid configuration is in the file and serves when the call resolves', async () => {
    const { document, file, served } = open('first')
    expect(await put(document, 'second', hashOf('first'))).toBe(hashOf('second'))
    expect(file).toMatchObject({ text: 'second', staged: 0, commits: 1 })
    expect(served).toEqual(['first', 'second'])
  })

  test('it serves only after the file has been replaced', async () => {
    const seen: string[] = []
    const { document, file } = open('first', async () => ({
      ok: true,
      apply: async () => void seen.push(file.text),
    }))
    await put(document, 'second', hashOf('first'))
    expect(seen).toEqual(['second'])
  })

  test.each([
    ['bare', (hash: string) => hash],
    ['quoted', (hash: string) => `"${hash}"`],
  ])('the hash may be %s', async (_, written) => {
    const { document } = open('first')
    await put(document, 'second', written(hashOf('first')))
  })

  test.each([
    ['missing', null, 'If-Match is missing'],
    ['empty', '', 'If-Match is missing'],
    ['an empty tag', '""', 'If-Match is missing'],
    ['any', '*', 'If-Match must name a hash'],
    ['any, quoted', '"*"', 'If-Match must name a hash'],
    ['weak', `W/"${hashOf('first')}"`, 'If-Match must name the hash itself'],
  ])('a condition that is %s is refused with LM-1001', async (_, ifMatch, message) => {
    const { document, file } = open('first')
    await expect(put(document, 'second', ifMatch)).rejects.toMatchObject({
      code: 'LM-1001',
      message: expect.stringContaining(message),
    })
    expect(file).toMatchObject({ text: 'first', staged: 0 })
  })

  test.each(['0'.repeat(64), 'abc', hashOf('other'), `"${hashOf('first')}", "x"`])(
    'another hash than that of the file is refused with LM-1004: %s',
    async (ifMatch) => {
      const { document, file, judged } = open('first')
      await expect(put(document, 'second', ifMatch)).rejects.toMatchObject({ code: 'LM-1004' })
      expect(file).toMatchObject({ text: 'first', staged: 0, commits: 0 })
      expect(judged).toEqual([])
    },
  )

  test.each(['', ' \r\n\t', '\uFEFF\n'])('an empty body is refused: %j', async (text) => {
    const { document, file } = open('first')
    await expect(put(document, text, hashOf('first'))).rejects.toMatchObject({
      code: 'LM-1001',
      message: 'the configuration is empty',
    })
    expect(file.commits).toBe(0)
  })

  test('a body of more than 1 MiB is refused before it is looked at', async () => {
    const { document, file, judged } = open('first')
    await expect(put(document, '#'.repeat(1024 * 1024 + 1), hashOf('first'))).rejects.toMatchObject(
      {
        code: 'LM-1002',
        message: 'the configuration is over the limit of 1048576 bytes',
      },
    )
    expect(judged).toEqual([])
    expect(file).toMatchObject({ text: 'first', staged: 0 })
    await put(document, '#'.repeat(1024 * 1024), hashOf('first'))
  })

  test('a body that is no UTF-8 is refused', async () => {
    const { document } = open('first')
    const body = new Uint8Array([0x61, 0xff])
    await expect(document.put(body, hashOf('first'))).rejects.toMatchObject({ code: 'LM-1001' })
  })

  test('a refused configuration names setting and line, and leaves everything as it was', async () => {
    const { document, file, served } = open('first')
    await expect(put(document, 'bad', hashOf('first'))).rejects.toMatchObject({
      code: 'LM-1001',
      message: 'the configuration is refused: server.port (line 3): must not be 0',
      detail: { param: 'server.port' },
    })
    expect(file).toMatchObject({ text: 'first', staged: 0, commits: 0 })
    expect(served).toEqual(['first'])
    expect(await document.refresh()).toEqual({ state: 'unchanged' })
  })

  test('of very many problems the first ones are told', async () => {
    const problems = Array.from({ length: 25 }, (_, at) => ({ setting: `s${at}`, message: 'no' }))
    const { document } = open('first', async () => ({ ok: false, problems }))
    const error = await put(document, 'second', hashOf('first')).catch((reason: Error) => reason)
    expect(String(error)).toContain('s19: no; and 5 more')
    expect(String(error)).not.toContain('s20')
  })

  test('a judge that fails leaves everything as it was', async () => {
    const { document, file } = open('first', () => Promise.reject(new Error('the store is gone')))
    await expect(put(document, 'second', hashOf('first'))).rejects.toThrow('the store is gone')
    expect(file).toMatchObject({ text: 'first', staged: 0, commits: 0 })
  })

  test('a folder that takes no file leaves everything as it was', async () => {
    const { document, file, judged } = open('first')
    file.readOnly = true
    await expect(put(document, 'second', hashOf('first'))).rejects.toMatchObject({ code: 'EROFS' })
    expect(file.text).toBe('first')
    expect(judged).toEqual([])
  })

  test('a file that was edited while its successor was judged is not overwritten', async () => {
    const { document, file } = open('first', async () => {
      file.write('edited')
      return { ok: true, apply: () => {} }
    })
    await expect(put(document, 'second', hashOf('first'))).rejects.toMatchObject({
      code: 'LM-1004',
    })
    expect(file).toMatchObject({ text: 'edited', staged: 0, commits: 0 })
  })

  test('of a hundred on the same hash exactly one wins, round after round', async () => {
    const { document, file, served } = open('round 0')
    for (let round = 1; round <= 5; round++) {
      const { hash } = await document.get()
      const outcomes = await Promise.allSettled(
        Array.from({ length: 100 }, (_, racer) => put(document, `${round}.${racer}`, hash)),
      )
      const lost = outcomes.filter((outcome) => outcome.status === 'rejected')
      expect(lost).toHaveLength(99)
      expect(lost.every(({ reason }) => reason.code === 'LM-1004')).toBe(true)
      expect(file.commits).toBe(round)
      expect(served.at(-1)).toBe(file.text)
    }
    expect(file.staged).toBe(0)
  })

  test('what is valid but fails to take over is tried again at the next look', async () => {
    let isBroken = true
    const { document, file, served } = open('first', async (text) => ({
      ok: true,
      apply: () => {
        if (isBroken) throw new Error('no memory')
        served.push(text)
      },
    }))
    await expect(put(document, 'second', hashOf('first'))).rejects.toThrow('no memory')
    expect(file).toMatchObject({ text: 'second', staged: 0 })
    isBroken = false
    expect(await document.refresh()).toEqual({ state: 'applied' })
    expect(served).toEqual(['first', 'second'])
  })

  test('a configuration that was given as text can be read but not replaced', async () => {
    const document = new ConfigDocument({
      file: textAsFile('first'),
      serving: 'first',
      judge: async () => ({ ok: true, apply: () => {} }),
    })
    expect((await document.get()).config).toBe('first')
    await expect(put(document, 'second', hashOf('first'))).rejects.toMatchObject({
      code: 'LM-1001',
      message: expect.stringContaining('there is no file to replace'),
    })
  })
})

describe('reloading', () => {
  test('the file serves as it is now', async () => {
    const { document, file, served } = open('first')
    file.write('second')
    expect(await document.reload()).toEqual({ state: 'applied' })
    expect(served).toEqual(['first', 'second'])
  })

  test('an unchanged file is judged anew, for the secrets beside it', async () => {
    const { document, judged } = open('first')
    expect(await document.reload()).toEqual({ state: 'applied' })
    expect(judged).toEqual(['first'])
  })

  test('a refresh looks away when the file is the one that was judged last', async () => {
    const { document, file, judged } = open('first')
    expect(await document.refresh()).toEqual({ state: 'unchanged' })
    file.write('second')
    expect(await document.refresh()).toEqual({ state: 'applied' })
    expect(await document.refresh()).toEqual({ state: 'unchanged' })
    await put(document, 'third', hashOf('second'))
    expect(await document.refresh()).toEqual({ state: 'unchanged' })
    expect(judged).toEqual(['second', 'third'])
  })

  test('an invalid file changes nothing, and is told of once', async () => {
    const { document, file, served } = open('first')
    file.write('bad')
    expect(await document.refresh()).toMatchObject({
      state: 'refused',
      problems: [{ setting: 'server.port' }],
    })
    expect(await document.refresh()).toEqual({ state: 'unchanged' })
    expect(await document.reload()).toMatchObject({ state: 'refused' })
    expect(served).toEqual(['first'])
  })

  test('a file that comes back as it served before is no failure', async () => {
    const { document, file } = open('first')
    file.write('bad')
    await document.refresh()
    file.write('first')
    expect(await document.refresh()).toEqual({ state: 'applied' })
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
        file.missing = true
      },
    ],
  ])(
    'a file that %s changes nothing, and is told of once, without its path',
    async (message, spoil) => {
      const { document, file, judged } = open('first')
      spoil(file)
      expect(await document.refresh()).toEqual({
        state: 'refused',
        problems: [{ setting: 'the configuration file', message }],
      })
      expect(await document.refresh()).toEqual({ state: 'unchanged' })
      expect(judged).toEqual([])
    },
  )

  test('secrets can be taken in although the file has been spoiled', async () => {
    const { document, file, judged } = open('first')
    file.write('bad')
    await document.refresh()
    expect(await document.rebuild()).toEqual({ state: 'applied' })
    expect(judged).toEqual(['bad', 'first'])
    expect(await document.refresh()).toEqual({ state: 'unchanged' })
  })

  test('what is prepared anew is what serves, however it came', async () => {
    const { document, file, judged } = open('first')
    await put(document, 'second', hashOf('first'))
    await document.rebuild()
    file.write('third')
    await document.reload()
    await document.rebuild()
    expect(judged).toEqual(['second', 'second', 'third', 'third'])
  })

  test('changes happen one after the other, and one that fails holds up nobody', async () => {
    const running: Array<() => void> = []
    let most = 0
    let now = 0
    const { document, file } = open('first', async (text) => {
      most = Math.max(most, ++now)
      await new Promise<void>((resolve) => running.push(resolve))
      now--
      if (text === 'second') throw new Error('the store is gone')
      return { ok: true, apply: () => {} }
    })
    const first = document.reload()
    const second = put(document, 'second', hashOf('first'))
    const third = document.reload()
    expect(await isPending(third)).toBe(true)
    expect(running).toHaveLength(1)
    running[0]?.()
    await first
    expect(await isPending(second)).toBe(true)
    running[1]?.()
    await expect(second).rejects.toThrow('the store is gone')
    expect(await isPending(third)).toBe(true)
    running[2]?.()
    expect(await third).toEqual({ state: 'applied' })
    expect(most).toBe(1)
    expect(file.commits).toBe(0)
  })
})
