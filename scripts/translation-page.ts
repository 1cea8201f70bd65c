import { writeFileSync } from 'node:fs'
import {
  type TranslationCell,
  type TranslationOutcome,
  type TranslationRow,
  type TranslationRows,
} from '../src/providers/translation/cell.ts'
import {
  type ApiFamily,
  apiFamilies,
  type Condition,
  conditions,
} from '../src/providers/translation/conditions.ts'
import { sections } from '../src/providers/translation/table.ts'

/* Writes the translation table to docs/translation.md: `npm run docs:translation`. */

/** The kind that heads the column of each API. */
const headings: Readonly<Record<ApiFamily, string>> = {
  anthropic: 'anthropic',
  gemini: 'google',
  bedrock: 'bedrock',
  cohere: 'cohere',
}

const intro = `# What each kind supports

This page shows how each kind handles every field, value and part of a message. Providers that speak the
OpenAI format get a request unchanged; for the others the gateway translates it. The page is generated from
the table that the gateway itself uses (\`npm run docs:translation\`), and a test checks each cell.

| Word | Meaning |
|---|---|
| carried | sent with the same name and value |
| mapped | sent in the vendor's own form |
| dropped | left out or weakened, with a line in the debug log. A provider with \`strict = true\` refuses the request with LM-1001, or is [skipped](resilience.md#what-a-link-cannot-express) as a fallback |
| ignored | left out, strict or not, because the answer does not depend on it |
| refused | the link [cannot express](resilience.md#what-a-link-cannot-express) the request: a chain skips it, and if no link can express the request, the client gets LM-1001. Content of a message is never dropped |

"Verbatim" means all other kinds, whose upstreams get the client's own bytes. The column \`google\` also applies to
\`vertex_ai\`. In the column \`bedrock\` the usual outcome is that of a Claude model. A value that asks for the
default behaviour (\`null\`, \`n: 1\`, a penalty of 0, \`parallel_tool_calls: true\`, …) is always left out silently.
Fields of one vendor may also be nested under \`extra_body\`; the same field at the top level wins.
A translated kind also refuses a field of the wrong type, a message with an unknown role, invalid base64, a
\`$ref\` to a missing definition, and an empty request.

The page of each kind has the details: [anthropic](providers/anthropic.md),
[google](providers/google.md), [vertex_ai](providers/vertex_ai.md), [bedrock](providers/bedrock.md),
[cohere](providers/cohere.md).
`

/** Returns the text of the page. */
export function renderTranslationPage(): string {
  const tables = Object.entries(sections).map(([heading, rows]) => renderSection(heading, rows))
  return [intro, ...tables].join('\n')
}

function renderSection(heading: string, rows: TranslationRows): string {
  const lines = Object.entries(rows).map(([feature, row]) => renderRow(feature, row))
  const head = [heading, ...apiFamilies.map((api) => `\`${headings[api]}\``), 'verbatim']
  const dashes = `|${'---|'.repeat(head.length)}`
  return `## ${heading}\n\n| ${head.join(' | ')} |\n${dashes}\n${lines.join('\n')}\n`
}

function renderRow(feature: string, row: TranslationRow): string {
  const cells = apiFamilies.map((api) => renderCell(row[api]))
  const verbatim = feature.startsWith('provider_content ') ? 'left out' : 'carried'
  return `| ${[formatFeature(feature), ...cells, verbatim].join(' | ')} |`
}

/** Formats the name of a member, with which most features begin, as code. */
function formatFeature(feature: string): string {
  return feature.replace(/^(?!part |call |tool |a )[a-z_.]+(?=[ :]|$)/, '`$&`')
}

/** Renders the usual outcome, then each other outcome with its conditions. */
function renderCell({ unless = {}, ...usual }: TranslationCell): string {
  const usually = renderOutcome(usual)
  const others = new Map<string, string[]>()
  // The keys of the exceptions are conditions.
  for (const [condition, outcome] of Object.entries(unless) as [Condition, TranslationOutcome][]) {
    const text = renderOutcome(outcome)
    if (text !== usually) others.set(text, [...(others.get(text) ?? []), conditions[condition]])
  }
  const exceptions = [...others].map(([text, when]) => `${text} ${when.join('; ')}`)
  return [usually, ...exceptions].join('; ')
}

function renderOutcome({ verdict, to, remark, code }: TranslationOutcome): string {
  const place = verdict === 'mapped' && to !== undefined ? renderPath(to) : undefined
  const note = remark ?? place ?? code
  return note === undefined ? verdict : `${verdict} (${note})`
}

/** Renders the path of a field. All items of a list are alike, so an index becomes `[]`. */
function renderPath(to: string): string {
  return `\`${to.replace(/\.\d+/g, '[]')}\``
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(new URL('../docs/translation.md', import.meta.url), renderTranslationPage())
}
