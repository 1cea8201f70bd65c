import { readFileSync, writeFileSync } from 'node:fs'
import { type Client, clients, fillTarget } from '../adapters/node/console/page/clients.ts'

/* Writes the blocks of the clients to docs/clients.md: `npm run docs:clients`. The console shows the same ones. */

const pageFile = new URL('../docs/clients.md', import.meta.url)

/** What the blocks of the page are for: they work with `gateway --demo`. */
const demo = { address: 'http://127.0.0.1:8080', model: 'demo' }

/** Returns the page with the blocks of the table between its marks. */
export function renderClientsPage(): string {
  const page = readFileSync(pageFile, 'utf8')
  const [before, rest] = page.split('<!-- clients -->\n')
  const [, after] = rest?.split('<!-- /clients -->') ?? []
  if (before === undefined || after === undefined) throw new Error('the page has no marks')
  return [
    before,
    '<!-- clients -->\n',
    ...clients.map(renderClient),
    '\n<!-- /clients -->',
    after,
  ].join('')
}

function renderClient({ name, parts }: Client): string {
  const texts = parts.map((part) =>
    typeof part === 'string' ? part : `\`\`\`${part.info}\n${part.text}\n\`\`\``,
  )
  return `\n### ${name}\n\n${fillTarget(texts.join('\n\n'), demo)}\n`
}

if (process.argv[1] === import.meta.filename) writeFileSync(pageFile, renderClientsPage())
