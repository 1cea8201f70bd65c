import { nodeConfigFile } from '../../../adapters/node/ports/config-file.ts'
import { ConfigDocument } from '../../../src/config/document.ts'

/*
 * Replaces a configuration file over and over, as one admin after the other would, until it is
 * killed. The text is a comment that is repeated, so a torn file shows.
 */

const [path = ''] = process.argv.slice(2)
const file = nodeConfigFile(path)
const serving = new TextDecoder().decode(await file.read())
const document = new ConfigDocument({
  file,
  serving,
  judge: async () => ({ ok: true, apply: () => {} }),
})
let { hash } = await document.get()
for (let round = 0; ; round++) {
  const text = `# ${round % 10}\n`.repeat(50_000)
  hash = await document.put(new TextEncoder().encode(text), hash)
  if (round === 0) process.stdout.write('ready\n')
}
