import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * Writes llms.txt, the list of all pages for language models (https://llmstxt.org), from the index of the documentation:
 * each page with its title and its first sentence. `npm run docs:llms`.
 */

const index = 'docs/README.md'

/** Returns the text of llms.txt. */
export function renderList(): string {
  const [, ...sections] = readFileSync(index, 'utf8').split(/^## /m)
  const blocks = sections.map((section) => {
    const [heading = ''] = section.split('\n', 1)
    const pages = new Set(listPages(section))
    return `## ${heading}\n\n${[...pages].map(renderPage).join('\n')}\n`
  })
  return [`# Model Gateway\n\n> ${readPurpose()}\n`, ...blocks].join('\n')
}

/** Lists the paths of the pages to which a text of the index links, from the root of the repository. */
export function listPages(text: string): readonly string[] {
  const links = text.matchAll(/\]\((?!https?:)([^)#]+\.md)\)/g)
  return Array.from(links, ([, path = '']) => join('docs', path))
}

function renderPage(path: string): string {
  const { title, sentence } = readHead(readFileSync(path, 'utf8'))
  return `- [${title}](${path}): ${sentence}`
}

/** The first paragraph of the README. */
function readPurpose(): string {
  const { paragraph } = readHead(readFileSync('README.md', 'utf8'))
  return paragraph
}

/** Reads the title of a page, its first paragraph, and the first sentence of that, as plain text. */
export function readHead(page: string) {
  const [first = '', ...rest] = page.replace(/<!--.*?-->\n*/gs, '').split(/\n{2,}/)
  const paragraph = toPlainText(rest[0] ?? '')
  const [sentence = ''] = /^.*?(?:\.(?= |$)|:$)/.exec(paragraph) ?? []
  return { title: first.replace(/^# /, ''), paragraph, sentence: sentence.replace(/:$/, '.') }
}

function toPlainText(markdown: string): string {
  return markdown.replaceAll('\n', ' ').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
}

if (process.argv[1] === import.meta.filename) writeFileSync('llms.txt', renderList())
