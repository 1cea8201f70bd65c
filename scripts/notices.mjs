import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the licenses of all packages that contribute code to a bundle, from esbuild's metafiles. */
export function collectNotices(metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap((output) =>
      Object.keys(output.inputs).filter((input) => output.inputs[input].bytesInOutput > 0),
    ),
  )
  // A colon ends the namespace of a module that is no file.
  const folders = inputs.flatMap(
    (input) => input.match(/^[^:]*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? [],
  )
  return [...new Set(folders)]
    .sort()
    .map(readNotice)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

function readNotice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return [`${name} ${version} (${license})`, ...texts, ''].join('\n\n')
}
