import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { freePort, getPid, listens, startNode, waitUntil } from '../processes.ts'
import { credential, type Subject } from '../subjects.ts'
import type { Peer } from './peer.ts'

/** The npm package of Portkey's gateway, without its console. */
export const portkey: Peer = { name: 'portkey', install, start }

const folder = fileURLToPath(new URL('.', import.meta.url))
const installed = `${folder}node_modules/@portkey-ai/gateway`

function install(): string {
  if (!existsSync(installed)) {
    execFileSync('npm', ['ci', '--silent', '--prefix', folder], { stdio: 'inherit' })
  }
  // The manifest of an npm package has a version.
  const { version } = JSON.parse(readFileSync(`${installed}/package.json`, 'utf8')) as {
    readonly version: string
  }
  return version
}

async function start(upstreamPort: number): Promise<Subject> {
  const port = await freePort()
  const args = [`${installed}/build/start-server.js`, '--headless', `--port=${port}`]
  const child = startNode(args, { stdio: 'ignore' })
  await waitUntil(() => listens(port), child)
  const headers = {
    ...credential,
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
  }
  return { name: 'portkey', port, pid: getPid(child), headers }
}
