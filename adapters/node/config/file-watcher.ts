import { type FSWatcher, lstatSync, readlinkSync, statSync, watch } from 'node:fs'
import { basename, isAbsolute, join, parse, resolve, sep } from 'node:path'
import type { Clock, Timer } from '../../../src/index.ts'

export interface FileWatcherOptions {
  readonly path: string
  readonly clock: Clock
  /** Called once at the start, and after every possible change when the file has settled. */
  readonly onChange: () => void
}

/**
 * How long the size and time of a file must stay unchanged before it is read, in milliseconds. An editor
 * that writes in place first empties the file, so an early read would return half a configuration.
 */
const settleDelay = 250

/** How often a path that cannot be watched is polled, in milliseconds. Systems limit their watches. */
const pollInterval = 1_000

/**
 * Watches the file at a path: its folder, for editors that replace the file; the file itself, for
 * editors that write in place; and the folder of every symbolic link on the way, since Kubernetes
 * updates a mounted volume by swapping a link. If a part of the path is missing, it watches the folder
 * where that part should appear.
 */
export class FileWatcher {
  readonly #path: string
  readonly #options: FileWatcherOptions
  readonly #watchers = new Map<string, FSWatcher>()
  #watchPoints: WatchPoints = new Map()
  /** The state of the file at the last check. */
  #lastState: string | undefined
  #timer: Timer | undefined

  constructor(options: FileWatcherOptions) {
    // Absolute, because the working directory may change later.
    this.#path = resolve(options.path)
    this.#options = options
    this.#check()
  }

  close(): void {
    this.#timer?.cancel()
    for (const place of this.#watchers.keys()) this.#unwatch(place)
  }

  /** Renews the watch points before it reads the state, so that no change goes unnoticed. */
  #check(): void {
    this.#watchPoints = findWatchPoints(this.#path)
    for (const place of this.#watchers.keys())
      if (!this.#watchPoints.has(place)) this.#unwatch(place)
    const isWatched = [...this.#watchPoints.keys()].map((place) => this.#watch(place))
    // Some file systems do not report every write.
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
    // An event of the watched path itself: it may have been deleted or replaced.
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

/** The watched folders, each with the names in it that matter, and the file itself. */
type WatchPoints = ReadonlyMap<string, ReadonlySet<string>>

/** A path with more symbolic links than this is taken for a cycle; Linux has the same limit. */
const maxLinks = 40

/** Resolves a path name by name, as the system does, and collects the points where it may change. */
function findWatchPoints(path: string): WatchPoints {
  const places = new Map<string, Set<string>>()
  const note = (folder: string, name: string) =>
    places.set(folder, (places.get(folder) ?? new Set()).add(name))
  const follow = (folder: string, [name, ...rest]: readonly string[], links: number): void => {
    if (name === undefined) return
    const here = join(folder, name)
    const found = inspectPath(here)
    // A folder at the path of the file is watched too: a file may replace it.
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

/** Returns the inode, size and time of the file at a path, as text; empty when there is none. */
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
