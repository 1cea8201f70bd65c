/** A node of the JSON Schema of the configuration file, as far as the scripts read it. */
export interface SettingNode {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, SettingNode>>
  readonly required?: readonly string[]
  readonly items?: SettingNode | readonly SettingNode[]
  readonly anyOf?: readonly SettingNode[]
  readonly const?: unknown
  readonly default?: unknown
  readonly pattern?: string
  enum?: readonly unknown[]
}

/**
 * Replaces the introductions and the tables of the page by those of the settings, and keeps all other text. The order of the tables is that of the page; a heading without settings, or a table of settings without
 * a heading, is an error.
 */
export function renderConfigPage(page: string, schema: SettingNode): string {
  const [start = '', ...sections] = page.split(/^(?=## )/m)
  const headings = new Set(sections.map((section) => readPath(section).join('.')))
  for (const path of listTables(schema)) {
    if (!headings.has(path.join('.'))) throw new Error(`the page has no table of ${path.join('.')}`)
  }
  const described = sections.map((section) => renderSection(section, schema))
  return [start, ...described].join('')
}

function renderSection(section: string, schema: SettingNode): string {
  const [heading = ''] = section.split('\n', 1)
  const path = readPath(section)
  const table = findTable(schema, path)
  const rest = section.slice(section.lastIndexOf('\n|'))
  const remarks = rest.slice(rest.indexOf('\n', 1) + 1)
  const intro = path.length === 0 ? [] : [wrapText(table.description ?? ''), '']
  const rows = Object.entries(table.properties ?? {})
    // The tables of the top level have sections of their own.
    .filter(([, node]) => path.length > 0 || !isTable(node))
    .map(([setting, node]) => renderRow(setting, node, table))
  const head = ['| Setting | Type | Default | Rule |', '|---|---|---|---|']
  return [heading, '', ...intro, ...head, ...rows, remarks].join('\n')
}

/** Returns the path of the table that the heading of a section names. */
function readPath(section: string): string[] {
  const name = section.slice('## '.length, section.indexOf('\n'))
  return name === 'Top level' ? [] : name.replaceAll(/[[\]`]/g, '').split('.')
}

function* listTables(
  table: SettingNode,
  path: readonly string[] = [],
): Generator<readonly string[]> {
  for (const [name, node] of Object.entries(table.properties ?? {})) {
    if (!isTable(node)) continue
    yield [...path, name]
    yield* listTables(getItems(node) ?? node, [...path, name])
  }
}

/** True for a table, and for an array of tables. */
function isTable(node: SettingNode): boolean {
  return (getItems(node) ?? node).properties !== undefined
}

function findTable(schema: SettingNode, path: readonly string[]): SettingNode {
  return path.reduce((node, name) => {
    const member = node.properties?.[name]
    if (member === undefined) throw new Error(`${path.join('.')}: no such table in the schema`)
    return getItems(member) ?? member
  }, schema)
}

function getItems({ items, anyOf = [] }: SettingNode): SettingNode | undefined {
  // A tuple is a list whose first item must exist.
  if (items !== undefined) return Array.isArray(items) ? items[0] : (items as SettingNode)
  // A word may stand for a list of tables.
  return anyOf.map(getItems).find((one) => one?.properties !== undefined)
}

function renderRow(name: string, node: SettingNode, { required = [] }: SettingNode): string {
  const byDefault = required.includes(name) ? 'required' : renderDefault(node.default)
  const rule = node.description ?? getItems(node)?.description
  return `| \`${name}\` | ${nameType(node)} | ${byDefault} | ${rule} |`
}

function renderDefault(value: unknown): string {
  if (value === undefined) return 'none'
  return `\`${JSON.stringify(value).replaceAll('","', '", "').replaceAll(/(\d),/g, '$1, ')}\``
}

/** The one text for which TOML has a type of its own. */
const datePattern = String.raw`^\d{4}-\d\d-\d\d$`

function nameType(node: SettingNode): string {
  if (node.const !== undefined) return `\`${JSON.stringify(node.const)}\``
  if (node.anyOf) return node.anyOf.map(nameType).join(' or ')
  switch (node.type) {
    case 'array': {
      const items = getItems(node)
      return `array of ${items ? nameType(items) : 'value'}s`
    }
    case 'object':
      return 'table'
    default:
      return node.pattern === datePattern ? 'date' : (node.type ?? 'value')
  }
}

const maxLineLength = 118

function wrapText(text: string): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && line.length + 1 + word.length > maxLineLength) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.join('\n')
}
