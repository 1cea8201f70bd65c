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
    parentPort.postMessage({ kind: 'value' })
  })
`

/** A process that exits with 3 while such a call runs. */
async function exiting(time: number) {
  const script = join(folder(), 'script.mjs')
  await build({
    stdin: {
      contents: `
        import { exit } from './adapters/node/exit.ts'
        import { openNodeStore } from './adapters/node/ports/store.ts'
        const thread = ${JSON.stringify(threadWith(time))}
        const entry = new URL('data:text/javascript,' + encodeURIComponent(thread))
        const store = await openNodeStore({ path: 'gateway.db' }, { entry })
        store.readAccounts().then(() => console.log('ended'), () => console.log('abandoned'))
        store.readSealed('canary').catch(() => console.log('never begun'))
        await exit(3)
      `,
      resolveDir: process.cwd(),
    },
    outfile: script,
    bundle: true,
    format: 'esm',
    platform: 'node',
  })
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
