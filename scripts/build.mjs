// Builds dist/: the library for embedding, the Node host, and the gateway command.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { build } from 'esbuild'
import { buildConsole } from './console.mjs'
import { collectNotices } from './notices.mjs'

/**
 * Lets bundled CommonJS packages load Node modules, since an ES module has no `require`. Each importer gets a module
 * of its own: shared ones would be sixteen more chunks, and opening so many files delays the start.
 */
const builtinsOfCommonJs = {
  name: 'builtins-of-commonjs',
  setup({ onResolve, onLoad }) {
    const isBuiltin = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]))
    onResolve({ filter: /^[a-z0-9:/_]+$/ }, ({ path, kind, importer }) =>
      kind === 'require-call' && isBuiltin.has(path)
        ? {
            path: path.replace(/^(node:)?/, 'node:'),
            namespace: 'builtin',
            suffix: `?${relative('.', importer)}`,
          }
        : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }))
  },
}

/**
 * Takes the builds for browsers. That of lru-cache for Node imports `node:diagnostics_channel`, and the library
 * needs only web standards. That of yaml for Node is CommonJS, whose names a dynamic import does not have.
 */
const webBuilds = {
  name: 'web-builds',
  setup({ onResolve }) {
    const files = { 'lru-cache': 'dist/esm/browser/index.js', yaml: 'browser/index.js' }
    onResolve({ filter: /^(lru-cache|yaml)$/ }, ({ path }) => ({
      path: resolve('node_modules', path, files[path]),
    }))
  },
}

/** Takes the ES modules of OpenTelemetry: without its metrics and logs their chunk is a fifth of the size. */
const treeShakenTraces = {
  name: 'tree-shaken-traces',
  setup({ onResolve }) {
    const filter = /^@opentelemetry\/(core|otlp-transformer|resources|sdk-trace|sdk-trace-base)$/
    onResolve({ filter }, ({ path }) => {
      const folder = resolve('node_modules', path)
      const { module } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      return { path: join(folder, module), sideEffects: false }
    })
  },
}

/**
 * Takes of undici what the host imports. Its index also loads fetch, WebSockets, caches and mocks, which are
 * more than half of the package.
 */
const undiciClient = {
  name: 'undici-client',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, ({ path }) => ({ path, namespace: 'undici-client' }))
    onLoad({ filter: /.*/, namespace: 'undici-client' }, () => ({
      resolveDir: resolve('node_modules/undici/lib'),
      contents: `
        Object.assign(require('./dispatcher/dispatcher.js').prototype, require('./api'))
        exports.Agent = require('./dispatcher/agent.js')
        exports.Client = require('./dispatcher/client.js')
        exports.buildConnector = require('./core/connect.js')
        exports.errors = require('./core/errors.js')`,
    }))
  },
}

/**
 * Leaves out what only functions need that the host does not call: HTTP/2 of undici, which every connection has
 * turned off, the URL patterns of the server adapter, and the spans of exemplars in prom-client.
 */
const unusedModules = {
  name: 'unused-modules',
  setup({ onResolve, onLoad }) {
    const filter = /^(\.\/client-h2\.js|urlpattern-polyfill|@opentelemetry\/api)$/
    const importers = /node_modules\/(undici|@whatwg-node\/fetch|prom-client)\//
    onResolve({ filter }, ({ path, importer }) =>
      importers.test(importer) ? { path, namespace: 'unused' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'unused' }, () => ({ contents: 'module.exports = {}' }))
  },
}

/**
 * Lets the server adapter read the fetch classes of Node when it needs them, which is never: it has its own. Node
 * loads its undici, 3 MB, when one of them is read.
 */
const lazyFetchClasses = {
  name: 'lazy-fetch-classes',
  setup({ onLoad }) {
    onLoad({ filter: /@whatwg-node\/server\/esm\/createServerAdapter\.js$/ }, ({ path }) => {
      const member = /^ {4}(\w+): globalThis\.\1,$/gm
      return {
        contents: readFileSync(path, 'utf8').replace(member, 'get $1() { return globalThis.$1 },'),
      }
    })
  },
}

const shared = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
  outdir: 'dist',
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  plugins: [
    builtinsOfCommonJs,
    webBuilds,
    treeShakenTraces,
    undiciClient,
    unusedModules,
    lazyFetchClasses,
  ],
  metafile: true,
}

rmSync('dist', { recursive: true, force: true })

// The library needs only web standards. Shared code is in chunks, so that a port made by one entry works
// with the other. The chunks are beside the entries, because they look there for the files that they read
// at run time. Packages are bundled: loading them from node_modules would triple the start time.
const host = await build({
  ...shared,
  entryPoints: {
    index: 'src/index.ts',
    node: 'adapters/node/index.ts',
    main: 'adapters/node/main.ts',
    worker: 'adapters/node/workers/worker.ts',
  },
  chunkNames: 'chunk-[hash]',
  // The native library of the database stays a package.
  external: ['libsql'],
})

// The command, which every Node version can parse: it reports the required version, or loads the host.
await build({
  ...shared,
  target: 'node14',
  entryPoints: { gateway: 'adapters/node/bin.mjs' },
})

// The thread that counts tokens. Each token table is a separate file, loaded on first use.
const tokenizer = await build({
  ...shared,
  entryPoints: { 'tokenizer-worker': 'adapters/node/tokenizer/worker.ts' },
  chunkNames: 'tokens/[name]-[hash]',
})

// The database thread. Its native library stays a package, and it reads the migrations at run time.
const store = await build({
  ...shared,
  entryPoints: { 'store-worker': 'adapters/node/store/worker.ts' },
  external: ['libsql'],
})
cpSync('src/store/migrations', 'dist/migrations', {
  recursive: true,
  filter: (path) => !path.endsWith('_snapshot.json'),
})

// The functions for the server of the shared state are read at run time, too.
cpSync('src/shared/functions', 'dist/functions', { recursive: true })

// The table of prices is read by commands only.
cpSync('adapters/node/prices/prices.json', 'dist/prices.json')

const page = await buildConsole('dist/console')

const bundles = [host, tokenizer, store].map(({ metafile }) => metafile).concat(page)
writeFileSync('dist/notices.txt', collectNotices(bundles))
chmodSync('dist/gateway.js', 0o755)

if (!process.argv.includes('--no-types')) {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
    stdio: 'inherit',
  })
  keepReachable('dist/types', ['src/index.d.ts', 'adapters/node/index.d.ts'])
}

/** Removes the declarations that no entry imports. */
function keepReachable(folder, entries) {
  const modules = /(?:from |import\()['"](\.[^'"]+)\.ts['"]/g
  const kept = new Set(entries.map((entry) => join(folder, entry)))
  for (const file of kept) {
    for (const [, specifier] of readFileSync(file, 'utf8').matchAll(modules)) {
      kept.add(`${join(dirname(file), specifier)}.d.ts`)
    }
  }
  for (const path of readdirSync(folder, { recursive: true })) {
    const file = join(folder, path)
    if (file.endsWith('.d.ts') && !kept.has(file)) rmSync(file)
  }
}
