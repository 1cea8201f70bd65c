// Writes the version of package.json into the source; `npm version` calls it.
import { readFileSync, writeFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const file = 'src/core/version.ts'
const text = readFileSync(file, 'utf8')
writeFileSync(file, text.replace(/version = '.*'/, `version = '${version}'`))
