// Makes the table of prices that comes with the gateway: `npm run prices`. A maintainer runs it before a release.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { fetchCatalogues, readCatalogues } from './catalogues.ts'
import { readExceptions } from './exceptions.ts'
import { makeTable } from './make.ts'
import { renderNotice } from './notice.ts'

const { values } = parseArgs({
  options: {
    /** Takes the packages that the last run has installed. */
    installed: { type: 'boolean', default: false },
  },
})
const { versions, ...sources } = values.installed ? readCatalogues() : fetchCatalogues()
const day = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length)
const { rows, problems } = makeTable({ ...sources, exceptions: readExceptions(), day })
if (problems.length > 0) {
  console.error(problems.join('\n'))
  console.error(`${problems.length} problems: decide each in scripts/prices/exceptions.json`)
  process.exit(1)
}
const lines = rows.map((row) => JSON.stringify(row)).join(',\n')
writeFileSync('adapters/node/prices/prices.json', `{"date":"${day}","models":[\n${lines}\n]}\n`)
writeFileSync('adapters/node/prices/table-date.ts', renderDate(day))
writeFileSync('NOTICE', renderNotice(day, versions))
const models = rows.reduce((sum, { ids }) => sum + ids.length, 0)
console.log(`${models} models in ${rows.length} rows, of ${day}`)

function renderDate(date: string): string {
  return `/** The day of the table of prices, which \`npm run prices\` writes. */\nexport const tableDate = '${date}'\n`
}
