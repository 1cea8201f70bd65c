import type { AST } from 'toml-eslint-parser'

/** A list of tables below another table, such as `[[providers.models.prices]]`. */
export interface TableList {
  /** The dotted path of the table that has the list, with array positions. */
  readonly parent: readonly (string | number)[]
  readonly key: string
}

export interface MarkedTables extends TableList {
  /** The comment of each table that is written. */
  readonly comment: string
  /** The keys and values of each table, as TOML. */
  readonly tables: readonly (readonly (readonly [key: string, value: string])[])[]
}

/** Lists the positions of the tables in each list whose comment begins with the mark. */
export async function findMarked(
  text: string,
  lists: readonly TableList[],
  mark: string,
): Promise<readonly (readonly number[])[]> {
  const document = await parse(text)
  return lists.map((list) => {
    const array = findArray(document, list)
    if (array) return isMarkedArray(document, array, mark) ? array.elements.map((_, at) => at) : []
    return listBlocks(document, list).flatMap((block, at) =>
      isMarkedBlock(document, block, mark) ? at : [],
    )
  })
}

/**
 * Writes tables in place of those with the mark, and leaves all other bytes as they are. The tables of a list
 * without marked ones go behind what belongs to their parent. Resolves to undefined when the text has a list in a
 * form that cannot be edited.
 */
export async function writeMarked(
  text: string,
  lists: readonly MarkedTables[],
  mark: string,
): Promise<string | undefined> {
  const document = await parse(text)
  const edits: Edit[] = []
  for (const list of lists) {
    const added = editArray(document, list, mark) ?? editBlocks(document, list, mark)
    if (!added) return undefined
    edits.push(...added)
  }
  const source = edits
    .toSorted((a, b) => b.from - a.from)
    .reduce(
      (before, { from, to, text: own }) => before.slice(0, from) + own + before.slice(to),
      document.source,
    )
  return document.prefix + source
}

interface Document {
  /** A byte order mark, which the parser rejects. */
  readonly prefix: string
  readonly source: string
  readonly newline: string
  readonly nodes: readonly (AST.TOMLKeyValue | AST.TOMLTable)[]
  readonly comments: readonly AST.Comment[]
  /** By the paths of tables: their values that are arrays. Inline tables are among them. */
  readonly inline: ReadonlyMap<string, AST.TOMLInlineTable>
  readonly arrays: ReadonlyMap<string, AST.TOMLArray>
}

interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

type Path = readonly (string | number)[]

async function parse(text: string): Promise<Document> {
  const { parseTOML } = await import('toml-eslint-parser')
  const prefix = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const source = text.slice(prefix.length)
  const { body, comments } = parseTOML(source)
  const inline = new Map<string, AST.TOMLInlineTable>()
  const arrays = new Map<string, AST.TOMLArray>()
  const visit = (node: AST.TOMLContentNode, path: Path): void => {
    if (node.type === 'TOMLArray') {
      arrays.set(toName(path), node)
      node.elements.forEach((element, at) => visit(element, [...path, at]))
    }
    if (node.type !== 'TOMLInlineTable') return
    inline.set(toName(path), node)
    for (const pair of node.body) visitPair(pair, path)
  }
  const visitPair = ({ key, value }: AST.TOMLKeyValue, path: Path): void => {
    const names = key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value))
    visit(value, [...path, ...names])
  }
  const nodes = body[0].body
  for (const node of nodes) {
    if (node.type === 'TOMLKeyValue') visitPair(node, [])
    else for (const pair of node.body) visitPair(pair, node.resolvedKey)
  }
  const newline = source.includes('\r\n') ? '\r\n' : '\n'
  return { prefix, source, newline, nodes, comments, inline, arrays }
}

function toName(path: Path): string {
  return JSON.stringify(path)
}

function findArray({ arrays }: Document, { parent, key }: TableList): AST.TOMLArray | undefined {
  return arrays.get(toName([...parent, key]))
}

/** Lists the tables of a list that have headers. */
function listBlocks({ nodes }: Document, { parent, key }: TableList): readonly AST.TOMLTable[] {
  const path = [...parent, key]
  return nodes.filter(
    (node): node is AST.TOMLTable =>
      node.type === 'TOMLTable' &&
      node.kind === 'array' &&
      toName(node.resolvedKey.slice(0, -1)) === toName(path),
  )
}

/** The comment is on the line of the header. */
function isMarkedBlock({ source, comments }: Document, block: AST.TOMLTable, mark: string) {
  const end = findLineEnd(source, block.key.range[1])
  return comments.some(
    ({ value, range: [at] }) => at > block.key.range[1] && at < end && isMark(value, mark),
  )
}

/** The comment is the first thing in the array. */
function isMarkedArray({ source, comments }: Document, array: AST.TOMLArray, mark: string) {
  const [start, end] = array.range
  const comment = comments.find(({ range: [at] }) => at > start && at < end)
  return (
    comment !== undefined &&
    isMark(comment.value, mark) &&
    source.slice(start + 1, comment.range[0]).trim() === ''
  )
}

function isMark(comment: string, mark: string): boolean {
  return comment.trim().startsWith(mark)
}

/** Undefined where the list is not one of inline tables, and its parent is not inline. */
function editArray(
  document: Document,
  list: MarkedTables,
  mark: string,
): readonly Edit[] | undefined {
  const array = findArray(document, list)
  const { comment, key, tables } = list
  const rows = tables.map((pairs) => `{ ${pairs.map((pair) => pair.join(' = ')).join(', ')} }`)
  const text = ['[ # ', comment, ...rows.map((row) => `${document.newline}  ${row},`)].join('')
  const value = `${text.replace(/,$/, '')}${document.newline}]`
  if (array) {
    if (!isMarkedArray(document, array, mark)) return undefined
    const [from, to] = array.range
    return [{ from, to, text: value }]
  }
  const last = document.inline.get(toName(list.parent))?.body.at(-1)
  return last && [{ from: last.range[1], to: last.range[1], text: `, ${key} = ${value}` }]
}

/** Undefined without a parent that has a header. */
function editBlocks(
  document: Document,
  list: MarkedTables,
  mark: string,
): readonly Edit[] | undefined {
  const { source, nodes, newline } = document
  const { parent, key, comment, tables } = list
  const own = nodes.filter(
    (node): node is AST.TOMLTable =>
      node.type === 'TOMLTable' &&
      toName(node.resolvedKey.slice(0, parent.length)) === toName(parent),
  )
  const head = own.find(({ resolvedKey }) => resolvedKey.length === parent.length)
  const last = own.at(-1)
  if (!head || !last || findArray(document, list)) return undefined
  const indent = readIndent(source, head.range[0])
  const name = `${source.slice(...head.key.range)}.${key}`
  const text = tables
    .map((pairs) => [`[[${name}]] # ${comment}`, ...pairs.map((pair) => pair.join(' = '))])
    .map((lines) => newline + lines.map((line) => `${newline}${indent}${line}`).join(''))
    .join('')
  const [first, ...others] = listBlocks(document, list)
    .filter((block) => isMarkedBlock(document, block, mark))
    .map((block) => findBlockRange(source, block))
  const end = findBlockRange(source, last)[1]
  const place = first ?? [end, end]
  return [
    { from: place[0], to: place[1], text },
    ...others.map(([from, to]) => ({ from, to, text: '' })),
  ]
}

/** From the end of what is before a table to the end of the line of its last key. */
function findBlockRange(source: string, block: AST.TOMLTable): readonly [number, number] {
  const before = source.slice(0, block.range[0]).trimEnd().length
  return [before, findLineEnd(source, (block.body.at(-1) ?? block.key).range[1])]
}

function findLineEnd(source: string, from: number): number {
  const newline = source.indexOf('\n', from)
  const end = newline === -1 ? source.length : newline
  return source[end - 1] === '\r' ? end - 1 : end
}

function readIndent(source: string, at: number): string {
  const line = source.slice(source.lastIndexOf('\n', at - 1) + 1, at)
  return /^[ \t]*$/.test(line) ? line : ''
}
