import type { AST } from 'toml-eslint-parser'

/** A value to set in a table of a TOML text. */
export interface TomlChange {
  /** The dotted path of the table, with array positions: `['providers', 0, 'models', 1]`. */
  readonly table: readonly (string | number)[]
  readonly key: string
  /** The value as TOML. */
  readonly value: string
}

/**
 * Sets values in a valid TOML text and leaves all other bytes as they are. A new key becomes the last
 * one of its table. Resolves to undefined when the text has one of the tables in a form that cannot be
 * edited.
 */
export async function editToml(
  text: string,
  changes: readonly TomlChange[],
): Promise<string | undefined> {
  const { parseTOML } = await import('toml-eslint-parser')
  // The parser rejects a byte order mark.
  const start = text.startsWith('\uFEFF') ? 1 : 0
  const source = text.slice(start)
  const tables = new Map<string, TablePlace>()
  for (const table of parseTOML(source).body[0].body) collectTables(table, source, tables)
  const edits: Edit[] = []
  for (const { table, key, value } of changes) {
    const place = tables.get(toName(table))
    if (!place) return undefined
    const range = place.values.get(key)
    if (range) edits.push({ range, text: value })
    else edits.push({ range: [place.end, place.end], text: place.add(`${key} = ${value}`) })
  }
  return text.slice(0, start) + applyEdits(source, edits)
}

type Range = readonly [number, number]

/** Where the values of a table are, and where a new key goes. */
interface TablePlace {
  readonly values: Map<string, Range>
  readonly end: number
  readonly add: (pair: string) => string
}

interface Edit {
  readonly range: Range
  readonly text: string
}

function collectTables(
  node: AST.TOMLKeyValue | AST.TOMLTable,
  source: string,
  tables: Map<string, TablePlace>,
): void {
  if (node.type === 'TOMLKeyValue') return collectInline(node, [], tables)
  const last = node.body.at(-1) ?? node
  tables.set(toName(node.resolvedKey), {
    values: listValues(node.body),
    ...placeLine(source, last.range[1], readIndent(source, last.range[0])),
  })
  for (const pair of node.body) collectInline(pair, node.resolvedKey, tables)
}

/** Collects the inline tables in the value of a key. */
function collectInline(
  { key, value }: AST.TOMLKeyValue,
  path: readonly (string | number)[],
  tables: Map<string, TablePlace>,
): void {
  const name = [
    ...path,
    ...key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value)),
  ]
  const visit = (content: AST.TOMLContentNode, at: readonly (string | number)[]): void => {
    if (content.type === 'TOMLArray') {
      content.elements.forEach((element, index) => visit(element, [...at, index]))
    }
    if (content.type !== 'TOMLInlineTable') return
    const last = content.body.at(-1)
    if (!last) return
    const add = (pair: string) => `, ${pair}`
    tables.set(toName(at), { values: listValues(content.body), end: last.range[1], add })
    for (const pair of content.body) collectInline(pair, at, tables)
  }
  visit(value, name)
}

function listValues(pairs: readonly AST.TOMLKeyValue[]): Map<string, Range> {
  return new Map(
    pairs.flatMap(({ key: { keys }, value }) => {
      const [only] = keys
      if (keys.length !== 1 || !only) return []
      return [[only.type === 'TOMLBare' ? only.name : only.value, value.range] as const]
    }),
  )
}

/** A new line goes after the line, and any comment on it, in which the last key of the table ends. */
function placeLine(source: string, from: number, indent: string): Omit<TablePlace, 'values'> {
  const newline = source.indexOf('\n', from)
  const lineEnd = newline === -1 ? source.length : newline
  const hasReturn = newline > 0 && source[newline - 1] === '\r'
  const add = (pair: string) => `${hasReturn ? '\r\n' : '\n'}${indent}${pair}`
  return { end: hasReturn ? lineEnd - 1 : lineEnd, add }
}

function readIndent(source: string, at: number): string {
  const line = source.slice(source.lastIndexOf('\n', at - 1) + 1, at)
  return /^[ \t]*$/.test(line) ? line : ''
}

function toName(path: readonly (string | number)[]): string {
  return JSON.stringify(path)
}

/** Applies edits from the end, in their order where they begin at the same place. */
function applyEdits(source: string, edits: readonly Edit[]): string {
  return edits
    .toReversed()
    .sort((a, b) => b.range[0] - a.range[0])
    .reduce(
      (text, { range: [from, to], text: added }) => text.slice(0, from) + added + text.slice(to),
      source,
    )
}
