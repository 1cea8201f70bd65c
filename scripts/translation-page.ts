import { writeFileSync } from 'node:fs'
import type { TranslationCell, TranslationOutcome } from '../src/providers/translation/cell.ts'
import { type Condition, conditions } from '../src/providers/translation/conditions.ts'
import type { TranslationRow, TranslationRows } from '../src/providers/translation/row.ts'
import { sections } from '../src/providers/translation/table.ts'

/* Prints the table of translation as docs/translation.md: `npm run docs:translation`. */

const intro = `# What each kind can carry

A request in the OpenAI format goes out as it is to providers that speak this format, and is translated for
the others. This page says, for each field, value and part of a message, what becomes of it. It is printed
from the table that the gateway itself goes by (\`npm run docs:translation\`), and each cell is tested.

| Word | Meaning |
|---|---|
| carried | sent with the same name and value |
| mapped | sent in the vendor's own form |
| dropped | left out or weakened, with a line in the debug log. A provider with \`strict = true\` refuses the request with LM-1001, or is [passed over](resilience.md#what-a-link-cannot-express) as a fallback |
| ignored | left out, strict or not: the answer is as good without it |
| refused | the link [cannot express](resilience.md#what-a-link-cannot-express) the request: it is passed over in a chain, and LM-1001 is the answer where no link can. Content of a message is never dropped |

"Verbatim" are all other kinds: their upstreams get the client's own bytes. \`google\` stands for \`vertex_ai\`
too. On \`bedrock\` the usual outcome is that of a Claude model. A value that asks for what happens anyway
(\`null\`, \`n: 1\`, a penalty of 0, \`parallel_tool_calls: true\`, …) is always left out in silence. Beyond
the table, a translated kind refuses a field of the wrong type, a message of an unknown role, base64 that
is none, a \`$ref\` to nothing, and a request that says nothing.

The vendor's page of each kind has the details: [anthropic](providers/anthropic.md),
[google](providers/google.md), [vertex_ai](providers/vertex_ai.md), [bedrock](providers/bedrock.md),
[cohere](providers/cohere.md).
`

/** The whole page. */
export function translationPage(): string {
  const tables = Object.entries(sections).map(([heading, rows]) => section(heading, rows))
  return [intro, ...tables].join('\n')
}

function section(heading: string, rows: TranslationRows): string {
  const lines = Object.entries(rows).map(([feature, row]) => line(feature, row))
  const head = `| ${heading} | \`anthropic\` | \`google\` | \`bedrock\` | \`cohere\` | verbatim |`
  return `## ${heading}\n\n${head}\n|---|---|---|---|---|---|\n${lines.join('\n')}\n`
}

function line(feature: string, { anthropic, gemini, bedrock, cohere }: TranslationRow): string {
  const cells = [anthropic, gemini, bedrock, cohere].map(textOf)
  return `| ${[named(feature), ...cells, 'carried'].join(' | ')} |`
}

/** Most features begin with the name of a member. */
function named(feature: string): string {
  return feature.replace(/^(?!part |call |tool |a )[a-z_.]+(?=[ :]|$)/, '`$&`')
}

/** The usual outcome, then the others with all conditions that lead to them. */
function textOf({ unless = {}, ...usual }: TranslationCell): string {
  const usually = outcomeText(usual)
  const others = new Map<string, string[]>()
  // The keys of the exceptions are conditions.
  for (const [condition, outcome] of Object.entries(unless) as [Condition, TranslationOutcome][]) {
    const text = outcomeText(outcome)
    if (text !== usually) others.set(text, [...(others.get(text) ?? []), conditions[condition]])
  }
  const exceptions = [...others].map(([text, when]) => `${text} ${when.join('; ')}`)
  return [usually, ...exceptions].join('; ')
}

function outcomeText({ verdict, to, remark, code }: TranslationOutcome): string {
  const place = verdict === 'mapped' && to !== undefined ? placeText(to) : undefined
  const note = remark ?? place ?? code
  return note === undefined ? verdict : `${verdict} (${note})`
}

/** Items of lists are all alike. */
function placeText(to: string): string {
  return `\`${to.replace(/\.\d+/g, '[]')}\``
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(new URL('../docs/translation.md', import.meta.url), translationPage())
}
