import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The rooms, from the ground up. A file imports from its own room or from a lower floor. */
const floors: readonly (readonly string[])[] = [
  ['src/core'],
  ['src/wire'],
  [
    'src/stream',
    'src/config',
    'src/store',
    'src/tokens',
    'src/pricing',
    'src/records',
    'src/resilience',
    'src/metrics',
  ],
  ['src/providers', 'src/auth', 'src/accounting', 'src/webhooks'],
  ['src/snapshot', 'src/health'],
  ['src/data-plane', 'src/admin'],
  ['src/access'],
  ['src/http', 'src/reload', 'src/web'],
  ['src'],
  ['adapters/node'],
]

/** A second door: what needs the database is loaded in its thread only. */
const isThreadsDoor = ({ from, to }: Import) =>
  to === 'src/store/database.ts' && from.startsWith('adapters/node/store/')

/** Rooms without a door: their files are imported one by one. */
const open = new Set(['src/core', 'src/wire', 'src/stream', 'src'])

const floorOf = new Map(
  floors.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)),
)

/** The folders under `src/providers`, from the ground up; `index.ts` alone is above them all. */
const providerFloors: readonly (readonly string[])[] = [
  ['canonical', 'shared'],
  ['translation', 'openai'],
  ['claude', 'cohere', 'demo', 'google', 'vendors'],
  ['anthropic', 'bedrock', 'vertex'],
]

interface Import {
  readonly from: string
  readonly to: string
}

const files = ['src', 'adapters']
  .flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).map((file) =>
      normalize(join(root, file)),
    ),
  )
  .filter((file) => file.endsWith('.ts'))

const imports = files.flatMap((from) => importsIn(from, read(from)))

/** Without those of types, which are gone at run time. */
const loaded = files.flatMap((from) =>
  importsIn(from, read(from).replace(/^(?:import|export) type [^']*'[^']+'$/gm, '')),
)

const inner = imports.filter(({ to }) => to.startsWith('src/') || to.startsWith('adapters/'))

describe('the house', () => {
  test('every file stands in a known room', () => {
    expect(files.filter((file) => !floorOf.has(roomOf(file)))).toEqual([])
    expect(files.length).toBeGreaterThan(40)
  })

  test('a file imports from its own room or from a lower floor', () => {
    const wrong = inner.filter(({ from, to }) => {
      const [here, there] = [roomOf(from), roomOf(to)]
      return here !== there && (floorOf.get(there) ?? 99) >= (floorOf.get(here) ?? -1)
    })
    expect(wrong).toEqual([])
  })

  test('a room is entered through its door', () => {
    const wrong = inner.filter(({ from, to }) => {
      const room = roomOf(to)
      const isDoor = to === `${room}/index.ts` || isThreadsDoor({ from, to })
      return roomOf(from) !== room && !open.has(room) && !isDoor
    })
    expect(wrong).toEqual([])
  })

  test('files do not import each other in a circle', () => {
    const graph = new Map<string, string[]>()
    for (const { from, to } of inner) graph.set(from, [...(graph.get(from) ?? []), to])
    expect(circleIn(graph)).toBeUndefined()
  })

  test('only the Node host imports from node:, and packages that do', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        /^(node:|prom-client$|undici$|libsql$)/.test(to) && !from.startsWith('adapters/node/'),
    )
    expect(wrong).toEqual([])
  })

  test('what drives the database is loaded in its thread only', () => {
    const isDriver = ({ to }: Import) => /^(drizzle-orm|@libsql)\b/.test(to)
    const outside = imports.filter(
      ({ from, to }) => isDriver({ from, to }) && !/^(src|adapters\/node)\/store\//.test(from),
    )
    expect(outside).toEqual([])
    const behind = new Set(['src/store/index.ts'])
    for (const from of behind) {
      for (const { to } of loaded.filter((each) => each.from === from)) behind.add(to)
    }
    expect([...behind].filter((to) => isDriver({ from: '', to }))).toEqual([])
  })

  test('a folder of providers imports from itself or from a lower floor', () => {
    const floorOfFolder = new Map(
      providerFloors.flatMap((folders, floor) => folders.map((folder) => [folder, floor] as const)),
    )
    const wrong = inner.filter(({ from, to }) => {
      const [here, there] = [providerFolderOf(from), providerFolderOf(to)]
      if (here === undefined || there === undefined || here === there) return false
      return (floorOfFolder.get(there) ?? 99) >= (floorOfFolder.get(here) ?? -1)
    })
    expect(wrong).toEqual([])
  })

  test('vendors never import each other', () => {
    const shared = new Set(['canonical', 'shared', 'translation', 'openai'])
    /** Vendors that sell the models of another one speak its dialect. */
    const resold: Record<string, readonly string[]> = {
      anthropic: ['claude'],
      bedrock: ['claude', 'cohere'],
      vertex: ['google'],
    }
    const wrong = inner.filter(({ from, to }) => {
      const [here, there] = [providerFolderOf(from), providerFolderOf(to)]
      if (here === undefined || there === undefined || here === there) return false
      if (shared.has(there)) return false
      return !resold[here]?.includes(there)
    })
    expect(wrong).toEqual([])
  })

  test('a chat dialect never refuses a request: another link may be able to express it', () => {
    const wrong = files.filter(
      (file) =>
        file.startsWith('src/providers/') &&
        !/\/embed[^/]*\.ts$/.test(file) &&
        /core\/errors\.ts|\binvalidField\b/.test(read(file)),
    )
    expect(wrong).toEqual([])
  })

  test('nothing outside of the providers compares the name of a kind', () => {
    const wrong = files.filter(
      (file) => !file.startsWith('src/providers/') && /kind\.name\s*[!=]==?/.test(read(file)),
    )
    expect(wrong).toEqual([])
  })
})

function importsIn(from: string, text: string): Import[] {
  const pattern = /(?:from|import)\s*\(?\s*'([^']+)'/g
  return Array.from(text.matchAll(pattern), ([, specifier = '']) => ({
    from,
    to: specifier.startsWith('.') ? normalize(join(dirname(from), specifier)) : specifier,
  }))
}

/** The folder of a vendor, or of what vendors share, under `src/providers`. */
function providerFolderOf(file: string): string | undefined {
  return /^src\/providers\/([^/]+)\//.exec(file)?.[1]
}

function read(file: string): string {
  return readFileSync(file, 'utf8')
}

/** The two leading folders, or `src` for the files that stand in it directly. */
function roomOf(file: string): string {
  const parts = file.split('/')
  return parts[0] === 'src' && parts.length === 2 ? 'src' : parts.slice(0, 2).join('/')
}

function circleIn(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const next of graph.get(file) ?? []) {
      const circle = visit(next, [...path, file])
      if (circle) return circle
    }
    done.add(file)
    return undefined
  }
  for (const file of graph.keys()) {
    const circle = visit(file, [])
    if (circle) return circle
  }
  return undefined
}
