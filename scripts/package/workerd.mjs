// Serves a bundled worker in workerd, without compatibility flags: workerd.mjs SCRIPT PORT
import { Miniflare } from 'miniflare'

const [, , scriptPath, port] = process.argv

const worker = new Miniflare({
  modules: true,
  scriptPath,
  compatibilityDate: '2024-01-01',
  host: '127.0.0.1',
  port: Number(port),
})
process.on('SIGTERM', () => worker.dispose())
await worker.ready
