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
    'src/rooms',
    'src/routing',
    'src/metrics',
    'src/cloud',
    'src/discovery',
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

/** The folders inside a large folder, lowest first. Above them all are only the files directly in it. */
const innerFloors: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'src/providers': [
    ['canonical', 'base', 'profiles', 'refusals'],
    ['claude', 'openai', 'translation'],
    ['anthropic', 'cohere', 'demo', 'google', 'vendors'],
    ['bedrock', 'vertex'],
  ],
  'src/data-plane': [
    ['cache', 'images', 'models', 'upstream'],
    ['request'],
    ['serve'],
    ['chat', 'embeddings', 'rerank', 'decisions', 'explain'],
  ],
  'adapters/node': [
    ['process', 'failures', 'streams', 'store', 'shared', 'tokenizer'],
    ['output', 'config', 'cloud', 'traces', 'upstream', 'import'],
    ['log', 'ports', 'prices'],
    ['http'],
    ['host'],
    ['admin', 'workers'],
    ['console'],
    ['commands'],
  ],
}

/** The files that may be directly in such a folder. */
const innerFiles: Readonly<Record<string, readonly string[]>> = {
  'src/providers': ['index.ts'],
  'src/data-plane': ['index.ts', 'plane.ts'],
  'adapters/node': ['cli.ts', 'index.ts', 'main.ts'],
}

/** The page that browsers run. It imports nothing else of the repository. */
const consolePage = 'adapters/node/console/page/'

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
  .filter((file) => /\.tsx?$/.test(file))

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
    const [text = ''] = read('docs/architecture.md').split('\n### Inside')
    const rows = text.matchAll(/^\| (\d) \| `([^`]+)` \|/gm)
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

  describe.each(Object.entries(innerFloors))('inside %s', (root, levels) => {
    const floorByInner = new Map(
      levels.flatMap((folders, floor) => folders.map((folder) => [folder, floor] as const)),
    )
    const inside = (file: string) => file.startsWith(`${root}/`)

    test('every file is in a folder that has a floor, or is one of those above them', () => {
      const wrong = files.filter((file) => {
        if (!inside(file)) return false
        const folder = getInnerFolder(root, file)
        if (folder !== undefined) return !floorByInner.has(folder)
        return !innerFiles[root]?.includes(file.slice(root.length + 1))
      })
      expect(wrong).toEqual([])
    })

    test('a folder imports from itself or from a lower floor', () => {
      const wrong = inner.filter(({ from, to }) => {
        if (!inside(from) || !inside(to)) return false
        const [here, there] = [getInnerFolder(root, from), getInnerFolder(root, to)]
        if (here === undefined || here === there) return false
        if (there === undefined) return true
        return (floorByInner.get(there) ?? 99) >= (floorByInner.get(here) ?? -1)
      })
      expect(wrong).toEqual([])
    })

    test('docs/architecture.md lists its folders with their floors', () => {
      const [, section = ''] = read('docs/architecture.md').split(`### Inside \`${root}\``)
      const [table = ''] = section.split('\n#')
      const rows = table.matchAll(/^\| (\d) \| `([^`]+)` \| \S/gm)
      const listed = Array.from(rows, ([, floor, folder]) => `${floor} ${folder}`)
      const expected = Array.from(floorByInner, ([folder, floor]) => `${floor} ${folder}`)
      expect(listed.sort()).toEqual(expected.sort())
    })
  })

  test('the page of the console and the rest of the host do not import each other', () => {
    const crossing = inner.filter(
      ({ from, to }) => from.startsWith(consolePage) !== to.startsWith(consolePage),
    )
    expect(crossing).toEqual([])
    expect(files.some((file) => file.startsWith(consolePage) && file.endsWith('.tsx'))).toBe(true)
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
  return getInnerFolder('src/providers', file)
}

/** Returns the folder below `root` in which a file is; undefined for a file directly in it, or elsewhere. */
function getInnerFolder(root: string, file: string): string | undefined {
  if (!file.startsWith(`${root}/`)) return undefined
  const [folder, rest] = file.slice(root.length + 1).split('/')
  return rest === undefined ? undefined : folder
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
