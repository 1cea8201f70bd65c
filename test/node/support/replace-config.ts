import { nodeConfigFile } from '../../../adapters/node/ports/config-file.ts'
import { testReloader } from '../../support/config-reloader.ts'

/*
 * Replaces a configuration file repeatedly, like successive PUTs, until it is
 * killed. The text is a repeated comment, so a torn file is detected.
 */

const [path = ''] = process.argv.slice(2)
const file = nodeConfigFile(path)
const text = new TextDecoder().decode(await file.read())
const reloader = await testReloader({ file, text })
let { hash } = await reloader.get()
for (let round = 0; ; round++) {
  const next = `# ${round % 10}\n`.repeat(50_000)
  hash = await reloader.put(new TextEncoder().encode(next), hash)
  if (round === 0) process.stdout.write('ready\n')
}
