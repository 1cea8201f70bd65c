import { type FSWatcher, lstatSync, readlinkSync, statSync, watch } from 'node:fs'
import { basename, isAbsolute, join, parse, resolve, sep } from 'node:path'
import type { Clock, Timer } from '../../src/index.ts'

export interface FileWatcherOptions {
  readonly path: string
  readonly clock: Clock
  /** Called when the file is still after what may have been a change, and once at the start. */
  readonly onChange: () => void
}

/**
 * How long size and time of a file must be still before it is read: an editor that writes in place
 * empties it first, and until it is done there is half a configuration.
 */
const settleDelay = 250

/** How often a path is looked at that cannot be watched: the system may have no watches left. */
const pollInterval = 1_000

/**
 * Watches the file that a path leads to: its folder for those who replace it, the file itself for
 * those who write in place, and the folders of all symbolic links on the way, one of which a mounted
 * Kubernetes volume exchanges. What is missing is waited for in the folder where it should appear.
 */
export class FileWatcher {
  readonly #path: string
  readonly #options: FileWatcherOptions
  readonly #watchers = new Map<string, FSWatcher>()
  #watchPoints: WatchPoints = new Map()
  /** What the file looked like last time. */
  #lastState: string | undefined
  #timer: Timer | undefined

  constructor(options: FileWatcherOptions) {
    // The working directory may change.
    this.#path = resolve(options.path)
    this.#options = options
    this.#check()
  }

  close(): void {
    this.#timer?.cancel()
    for (const place of this.#watchers.keys()) this.#unwatch(place)
  }

  /** A change may have moved the places to watch, so that comes first: nothing goes unseen. */
  #check(): void {
    this.#watchPoints = findWatchPoints(this.#path)
    for (const place of this.#watchers.keys())
      if (!this.#watchPoints.has(place)) this.#unwatch(place)
    const isWatched = [...this.#watchPoints.keys()].map((place) => this.#watch(place))
    // Not every file system reports each write.
    if (this.#hasChanged()) return this.#checkAfter(settleDelay)
    if (isWatched.includes(false)) this.#checkAfter(pollInterval)
    this.#options.onChange()
  }

  #hasChanged(): boolean {
    const before = this.#lastState
    this.#lastState = readFileState(this.#path)
    return this.#lastState !== before
  }

  #checkAfter(delay: number): void {
    this.#timer?.cancel()
    this.#timer = this.#options.clock.schedule(delay, () => this.#check())
  }

  #watch(place: string): boolean {
    if (this.#watchers.has(place)) return true
    try {
      const watcher = watch(place, { persistent: false })
      watcher.on('change', (_, name) => this.#handleEvent(place, name))
      watcher.on('error', () => this.#handleEvent(place, null))
      this.#watchers.set(place, watcher)
      return true
    } catch {
      return false
    }
  }

  #handleEvent(place: string, name: string | Buffer | null): void {
    // News of the place itself: it may be gone, and another one may have its name by now.
    const isOfPlace = name === null || name === basename(place)
    if (isOfPlace) this.#unwatch(place)
    if (!isOfPlace && !this.#watchPoints.get(place)?.has(String(name))) return
    this.#lastState = readFileState(this.#path)
    this.#checkAfter(settleDelay)
  }

  #unwatch(place: string): void {
    this.#watchers.get(place)?.close()
    this.#watchers.delete(place)
  }
}

/** Folders with the names in them that matter, and the file itself. */
type WatchPoints = ReadonlyMap<string, ReadonlySet<string>>

/** More symbolic links in a row are a circle. */
const maxLinks = 40

/** Follows a path name by name, as the system does, and notes where it could come to lead elsewhere. */
function findWatchPoints(path: string): WatchPoints {
  const places = new Map<string, Set<string>>()
  const note = (folder: string, name: string) =>
    places.set(folder, (places.get(folder) ?? new Set()).add(name))
  const follow = (folder: string, [name, ...rest]: readonly string[], links: number): void => {
    if (name === undefined) return
    const here = join(folder, name)
    const found = inspectPath(here)
    // A folder in the place of the file may give way to one.
    if (found.kind === 'folder' && rest.length > 0) return follow(here, rest, links)
    note(folder, name)
    if (found.kind === 'link' && links < maxLinks) {
      const start = isAbsolute(found.target) ? parse(found.target).root : folder
      follow(start, [...splitPath(found.target), ...rest], links + 1)
    }
    if (found.kind === 'file') note(here, name)
  }
  follow(parse(path).root, splitPath(path), 0)
  return places
}

function splitPath(path: string): readonly string[] {
  return path.slice(parse(path).root.length).split(sep)
}

/** Which file a path leads to, its size and its time; empty when there is none. */
function readFileState(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true })
    return `${ino} ${size} ${mtimeNs}`
  } catch {
    return ''
  }
}

type PathEntry =
  | { readonly kind: 'folder' | 'file' | 'nothing' }
  | { readonly kind: 'link'; readonly target: string }

function inspectPath(path: string): PathEntry {
  try {
    const stats = lstatSync(path)
    if (stats.isSymbolicLink()) return { kind: 'link', target: readlinkSync(path) }
    return { kind: stats.isDirectory() ? 'folder' : 'file' }
  } catch {
    return { kind: 'nothing' }
  }
}
