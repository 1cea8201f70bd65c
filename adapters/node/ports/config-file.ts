import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { ConfigFile, StagedFile } from '../../../src/core/config-file.ts'
import { GatewayError } from '../../../src/core/errors.ts'

/**
 * Creates the port for a configuration file on disk. A change replaces the whole file by a rename, so a
 * reader finds the old content or the new one, also after a crash. A symbolic link is replaced, not
 * followed.
 */
export function nodeConfigFile(path: string): ConfigFile {
  // Absolute, because an embedding program may change the working directory later.
  const file = resolve(path)
  return {
    name: path,
    read: () => readFile(file),
    stage: (bytes) => stage(file, bytes).catch(throwFullDisk),
  }
}

async function stage(file: string, bytes: Uint8Array): Promise<StagedFile> {
  const draft = await Draft.beside(file, bytes)
  return {
    commit: () => commit(file, draft).catch(throwFullDisk),
    discard: () => draft.drop(),
  }
}

async function commit(file: string, draft: Draft): Promise<void> {
  const before = await stat(file)
  const copy = await Draft.beside(file, await readFile(file))
  await copy.publish(`${file}.bak`, before)
  await draft.publish(file, before)
  await syncFolder(dirname(file))
}

/** Rethrows an error; of a full disk or an exhausted quota as LM-5003, like a write to the database. */
function throwFullDisk(error: NodeJS.ErrnoException): never {
  if (error.code !== 'ENOSPC' && error.code !== 'EDQUOT') throw error
  throw new GatewayError('LM-5003', 'the disk is full; try again', { retryAfter: 1_000 })
}

/** A temporary file that is complete on disk before a rename gives it its final name. */
class Draft {
  readonly #path: string
  readonly #handle: FileHandle

  private constructor(path: string, handle: FileHandle) {
    this.#path = path
    this.#handle = handle
  }

  /** Writes a new file in the folder of `file`, since a rename cannot cross file systems. */
  static async beside(file: string, bytes: Uint8Array): Promise<Draft> {
    const name = `.${basename(file)}.${randomBytes(8).toString('hex')}.staged`
    const path = join(dirname(file), name)
    // `wx` fails when the file or link exists.
    const draft = new Draft(path, await open(path, 'wx', 0o600))
    try {
      await draft.#handle.writeFile(bytes)
      await draft.#handle.sync()
      return draft
    } catch (error) {
      await draft.drop()
      throw error
    }
  }

  /** Renames the draft to `file`, with the given owner and permissions. */
  async publish(file: string, { uid, gid, mode }: Stats): Promise<void> {
    try {
      await this.#give(uid, gid)
      await this.#handle.chmod(mode & 0o777)
      await this.#handle.sync()
      await this.#handle.close()
      await rename(this.#path, file)
    } catch (error) {
      await this.drop()
      throw error
    }
  }

  /** Removes the draft, unless it has been published. */
  async drop(): Promise<void> {
    // A failure here must not hide an earlier one.
    await this.#handle.close().catch(() => {})
    await rm(this.#path, { force: true }).catch(() => {})
  }

  /** Only root may change the owner of a file; others may set a group that they belong to. */
  async #give(uid: number, gid: number): Promise<void> {
    await this.#handle.chown(uid, gid).catch(() => this.#handle.chown(-1, gid).catch(() => {}))
  }
}

/** Makes the renames durable. A failure is ignored, since the new file already has its name. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => {})
  await folder?.close().catch(() => {})
}
