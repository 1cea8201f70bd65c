import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { command, finished } from './support/command.ts'
import { folder } from './support/store.ts'

/** A thread of the database in which a call takes so long, in milliseconds. */
const threadWith = (time: number) => `
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', ({ method }) => {
    if (method === undefined) return
    const word = new Int32Array(new SharedArrayBuffer(4))
    if (method === 'readAccounts') Atomics.wait(word, 0, 0, ${time})
    parentPort.postMessage({ kind: 'value', value: {} })
  })
`

/** Bundles a script that imports modules of this repository, and returns its path. */
async function bundle(contents: string): Promise<string> {
  const script = join(folder(), 'script.mjs')
  await build({
    stdin: { contents, resolveDir: process.cwd() },
    outfile: script,
    bundle: true,
    format: 'esm',
    platform: 'node',
  })
  return script
}

/** A process that exits with 3 while such a call runs. */
async function exiting(time: number) {
  const script = await bundle(`
    import { exit } from './adapters/node/host/exit.ts'
    import { openNodeStore } from './adapters/node/ports/store.ts'
    const thread = ${JSON.stringify(threadWith(time))}
    const entry = new URL('data:text/javascript,' + encodeURIComponent(thread))
    const store = await openNodeStore({ path: 'gateway.db' }, { entry })
    store.readAccounts().then(() => console.log('ended'), () => console.log('abandoned'))
    store.readSealed('canary').catch(() => console.log('never begun'))
    await exit(3)
  `)
  const running = command([script])
  const end = await finished(running)
  return { ...end, signal: running.process.signalCode }
}

test('an exit waits for the running database call and starts no other', async () => {
  expect(await exiting(50)).toEqual({
    code: 3,
    signal: null,
    stdout: 'never begun\nended\n',
    stderr: '',
  })
})

test('an exit waits only briefly and never ends the thread in the middle of a call', async () => {
  expect(await exiting(5_000)).toMatchObject({ code: null, signal: 'SIGKILL' })
})

test('a command that waits for unreferenced handles alone still ends with its own code', async () => {
  const script = await bundle(`
    import { exitAfter } from './adapters/node/host/exit.ts'
    const waiting = new Promise((resolve) => setTimeout(resolve, 30, 2).unref())
    exitAfter(waiting.then((code) => (console.log('answer'), code)))
  `)
  expect(await finished(command([script]))).toMatchObject({ code: 2, stdout: 'answer\n' })
})

test.each([
  ['never settles', 'await new Promise(() => {})'],
  ['ends without a code', 'export {}'],
  ['throws', 'throw new Error("broken")'],
])('a command whose program %s does not end with 0', async (_, program) => {
  const place = folder()
  for (const name of ['bin.mjs', 'node-version.mjs']) {
    copyFileSync(join('adapters/node', name), join(place, name))
  }
  writeFileSync(join(place, 'main.js'), program)
  writeFileSync(join(place, 'package.json'), '{"type":"module"}')
  expect(await finished(command([join(place, 'bin.mjs')]))).toMatchObject({ code: 1, stdout: '' })
})
