import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { ConfigFile, StagedFile } from '../../../src/core/config-file.ts'

/**
 * A configuration file on disk. It is only ever replaced by a whole other file, so whoever reads it,
 * also after a crash, finds the old one or the new one. A symbolic link is replaced, not followed.
 */
export function nodeConfigFile(path: string): ConfigFile {
  // The working directory is that of the start, whatever an embedding program does later.
  const file = resolve(path)
  return {
    read: () => readFile(file),
    stage: (bytes) => stage(file, bytes),
  }
}

async function stage(file: string, bytes: Uint8Array): Promise<StagedFile> {
  const draft = await Draft.beside(file, bytes)
  return {
    async commit() {
      const before = await stat(file)
      const copy = await Draft.beside(file, await readFile(file))
      await copy.publish(`${file}.bak`, before)
      await draft.publish(file, before)
      await syncFolder(dirname(file))
    },
    discard: () => draft.drop(),
  }
}

/** A file that is complete before it gets its name. */
class Draft {
  readonly #path: string
  readonly #handle: FileHandle

  private constructor(path: string, handle: FileHandle) {
    this.#path = path
    this.#handle = handle
  }

  /** Writes a new file in the folder of `file`: a rename cannot leave the file system. */
  static async beside(file: string, bytes: Uint8Array): Promise<Draft> {
    const name = `.${basename(file)}.${randomBytes(8).toString('hex')}.staged`
    const path = join(dirname(file), name)
    // Fails when there is such a file or link.
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

  /** Puts it in the place of `file`, with the permissions that are given. */
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

  /** Removes it, unless it has another name by now. */
  async drop(): Promise<void> {
    // What fails here must not hide what failed before.
    await this.#handle.close().catch(() => {})
    await rm(this.#path, { force: true }).catch(() => {})
  }

  /** Only root may give a file away; the group may be one that the process is in. */
  async #give(uid: number, gid: number): Promise<void> {
    await this.#handle.chown(uid, gid).catch(() => this.#handle.chown(-1, gid).catch(() => {}))
  }
}

/** Makes renames last. The new file has its name already, so this cannot fail any more. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => {})
  await folder?.close().catch(() => {})
}
