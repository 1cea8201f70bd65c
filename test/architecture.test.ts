import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The folders, lowest first. A file imports from its own folder or from a lower floor. */
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
    'src/routing',
    'src/metrics',
    'src/cloud',
    'src/traces',
  ],
  ['src/providers', 'src/auth', 'src/accounting', 'src/webhooks', 'src/cache', 'src/shared'],
  ['src/snapshot', 'src/health'],
  ['src/data-plane', 'src/admin'],
  ['src/access', 'src/doors'],
  ['src/http', 'src/reload', 'src/web'],
  ['src'],
  ['adapters/node'],
]

/** The one import past an index: the thread of the database loads what drives it. */
const isThreadImport = ({ from, to }: Import) =>
  to === 'src/store/database.ts' && from.startsWith('adapters/node/store/')

/** Folders without an index: their files are imported one by one. */
const withoutIndex = new Set(['src/core', 'src/wire', 'src/stream', 'src'])

const floorByFolder = new Map(
  floors.flatMap((folders, floor) => folders.map((folder) => [folder, floor] as const)),
)

/** The folders under `src/providers`, lowest first; only `index.ts` is above them all. */
const providerFloors: readonly (readonly string[])[] = [
  ['canonical', 'base', 'profiles', 'refusals'],
  ['claude', 'openai', 'translation'],
  ['anthropic', 'cohere', 'demo', 'google', 'vendors'],
  ['bedrock', 'vertex'],
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

const imports = files.flatMap((from) => findImports(from, read(from)))

/** The imports that exist at run time, without those of types. */
const loaded = files.flatMap((from) =>
  findImports(from, read(from).replace(/^(?:import|export) type [^']*'[^']+'$/gm, '')),
)

const inner = imports.filter(({ to }) => to.startsWith('src/') || to.startsWith('adapters/'))

describe('the architecture', () => {
  test('every file is in a folder that has a floor', () => {
    expect(files.filter((file) => !floorByFolder.has(getFolder(file)))).toEqual([])
    expect(files.length).toBeGreaterThan(40)
  })

  test('docs/architecture.md lists every folder with its floor', () => {
    const rows = read('docs/architecture.md').matchAll(/^\| (\d) \| `([^`]+)` \|/gm)
    const listed = Array.from(rows, ([, floor, folder]) => `${floor} ${folder}`)
    const expected = floors.flatMap((folders, floor) => folders.map((each) => `${floor} ${each}`))
    expect(listed.sort()).toEqual(expected.sort())
  })

  test('a file imports from its own folder or from a lower floor', () => {
    const wrong = inner.filter(({ from, to }) => {
      const [here, there] = [getFolder(from), getFolder(to)]
      return here !== there && (floorByFolder.get(there) ?? 99) >= (floorByFolder.get(here) ?? -1)
    })
    expect(wrong).toEqual([])
  })

  test('a folder is imported through its index', () => {
    const wrong = inner.filter(({ from, to }) => {
      const folder = getFolder(to)
      const isIndex = to === `${folder}/index.ts` || isThreadImport({ from, to })
      return getFolder(from) !== folder && !withoutIndex.has(folder) && !isIndex
    })
    expect(wrong).toEqual([])
  })

  test('files do not import each other in a cycle', () => {
    const graph = new Map<string, string[]>()
    for (const { from, to } of inner) graph.set(from, [...(graph.get(from) ?? []), to])
    expect(findCycle(graph)).toBeUndefined()
  })

  test('only the Node host imports from node: or packages that need it', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        /^(node:|prom-client$|undici$|libsql$|ioredis$)/.test(to) &&
        !from.startsWith('adapters/node/'),
    )
    expect(wrong).toEqual([])
  })

  test('the database driver is loaded only in the thread of the database', () => {
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
    const floorByProvider = new Map(
      providerFloors.flatMap((folders, floor) => folders.map((folder) => [folder, floor] as const)),
    )
    const wrong = inner.filter(({ from, to }) => {
      const [here, there] = [getProviderFolder(from), getProviderFolder(to)]
      if (here === undefined || there === undefined || here === there) return false
      return (floorByProvider.get(there) ?? 99) >= (floorByProvider.get(here) ?? -1)
    })
    expect(wrong).toEqual([])
  })

  test('vendors never import each other', () => {
    const shared = new Set(['canonical', 'base', 'profiles', 'translation', 'openai'])
    /** Vendors that resell models of another vendor use its dialect. */
    const resold: Record<string, readonly string[]> = {
      anthropic: ['claude'],
      bedrock: ['claude', 'cohere'],
      vertex: ['google'],
    }
    const wrong = inner.filter(({ from, to }) => {
      const [here, there] = [getProviderFolder(from), getProviderFolder(to)]
      if (here === undefined || there === undefined || here === there) return false
      if (shared.has(there)) return false
      return !resold[here]?.includes(there)
    })
    expect(wrong).toEqual([])
  })

  test('a chat dialect never throws a client error, because another link may express the request', () => {
    const wrong = files.filter(
      (file) =>
        file.startsWith('src/providers/') &&
        !/\/embed[^/]*\.ts$/.test(file) &&
        /core\/errors\.ts|\binvalidField\b/.test(read(file)),
    )
    expect(wrong).toEqual([])
  })

  test('only src/providers compares the name of a kind', () => {
    const wrong = files.filter(
      (file) => !file.startsWith('src/providers/') && /kind\.name\s*[!=]==?/.test(read(file)),
    )
    expect(wrong).toEqual([])
  })
})

function findImports(from: string, text: string): Import[] {
  const pattern = /(?:from|import)\s*\(?\s*'([^']+)'/g
  return Array.from(text.matchAll(pattern), ([, specifier = '']) => ({
    from,
    to: specifier.startsWith('.') ? normalize(join(dirname(from), specifier)) : specifier,
  }))
}

/** Returns the folder below `src/providers`, of a vendor or shared. */
function getProviderFolder(file: string): string | undefined {
  return /^src\/providers\/([^/]+)\//.exec(file)?.[1]
}

function read(file: string): string {
  return readFileSync(file, 'utf8')
}

/** Returns the two leading folders, or `src` for the files directly in it. */
function getFolder(file: string): string {
  const parts = file.split('/')
  return parts[0] === 'src' && parts.length === 2 ? 'src' : parts.slice(0, 2).join('/')
}

function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...path, file])
      if (cycle) return cycle
    }
    done.add(file)
    return undefined
  }
  for (const file of graph.keys()) {
    const cycle = visit(file, [])
    if (cycle) return cycle
  }
  return undefined
}
