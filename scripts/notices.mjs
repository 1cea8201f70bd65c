import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The licenses of the packages of which a bundle holds anything, by the metafiles of esbuild. */
export function noticesOf(metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap((output) =>
      Object.keys(output.inputs).filter((input) => output.inputs[input].bytesInOutput > 0),
    ),
  )
  const folders = inputs.flatMap(
    (input) => input.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? [],
  )
  return [...new Set(folders)]
    .sort()
    .map(noticeOf)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return [`${name} ${version} (${license})`, ...texts, ''].join('\n\n')
}
