import { readFileSync, writeFileSync } from 'node:fs'
import * as z from 'zod'
import { configSchema } from '../src/config/schema.ts'
import { kinds } from '../src/providers/index.ts'

/* Writes the JSON Schema of the configuration file to gateway.schema.json: `npm run schema`. */

/** A node of the schema, as far as this script changes it. */
interface Node {
  description?: string
  properties?: Record<string, Node>
  items?: Node
  enum?: readonly string[]
  anyOf?: readonly object[]
  dependencies?: Readonly<Record<string, object>>
}

/**
 * Returns the text of the schema, in draft 7, which editors read. The descriptions of the settings are
 * those of docs/configuration.md. The schema accepts everything that the gateway accepts, and some
 * things that it does not: rules that join several settings, and those about URLs.
 */
export function renderConfigSchema(): string {
  const page = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8')
  // The result is plain JSON, of which `Node` names a part.
  const schema = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-7' }) as Node
  describeSettings(schema, page)
  addKindRules(schema.properties?.['providers']?.items ?? {})
  const { $schema, ...rest } = { $schema: '', ...schema }
  const title = 'Model Gateway configuration'
  return `${JSON.stringify({ $schema, title, ...rest }, null, 2)}\n`
}

/** Adds the texts of the settings' tables to the schema; throws when a setting has none. */
function describeSettings(schema: Node, page: string): void {
  const [, settings = ''] = page.split('\n## Settings\n')
  const [tables = ''] = settings.split('\n## ')
  for (const section of tables.split('\n### ').slice(1)) {
    const [heading = '', intro = ''] = section.split(/\n+/)
    const path = heading === 'Top level' ? [] : heading.replace(/[[\]`]/g, '').split('.')
    const table = findTable(schema, path)
    if (path.length > 0 && !intro.startsWith('|')) table.description = readIntro(section)
    for (const [, name = '', rule = ''] of section.matchAll(/^\| `(\w+)` \|.*\| (.+) \|$/gm)) {
      const setting = table.properties?.[name]
      if (setting) setting.description = toPlainText(rule)
    }
  }
  requireDescriptions(schema, [])
}

function readIntro(section: string): string {
  const [, intro = ''] = section.split('\n\n')
  return toPlainText(intro)
}

/** Replaces links by their text, because they are relative to the page. */
function toPlainText(markdown: string): string {
  return markdown.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('\n', ' ')
}

function findTable(schema: Node, path: readonly string[]): Node {
  return path.reduce((node, name) => {
    const member = node.properties?.[name]
    if (member === undefined) throw new Error(`${path.join('.')}: no such table in the schema`)
    return member.items ?? member
  }, schema)
}

function requireDescriptions({ properties = {} }: Node, path: readonly string[]): void {
  for (const [name, setting] of Object.entries(properties)) {
    const at = [...path, name]
    const { description = setting.items?.description } = setting
    if (description === undefined) throw new Error(`${at.join('.')}: not in docs/configuration.md`)
    requireDescriptions(setting.items ?? setting, at)
  }
}

/** Adds the rules of each kind: its name, the need of an address, and the settings it has. */
function addKindRules(provider: Node): void {
  const kind = provider.properties?.['kind']
  if (kind) kind.enum = listNames(() => true)
  const own = new Set(kinds.flatMap(({ ownSettings = [] }) => ownSettings))
  const kindsOf = (setting: string) =>
    listNames(({ ownSettings = [] }) => ownSettings.includes(setting))
  provider.dependencies = {
    health_path: ['base_url'],
    ...Object.fromEntries(
      Array.from(own, (setting) => [setting, { properties: { kind: { enum: kindsOf(setting) } } }]),
    ),
  }
  const withAddress = listNames(({ defaultBaseUrl }) => defaultBaseUrl !== undefined)
  provider.anyOf = [{ required: ['base_url'] }, { properties: { kind: { enum: withAddress } } }]
}

function listNames(select: (kind: (typeof kinds)[number]) => boolean): string[] {
  return kinds.filter(select).flatMap(({ name, aliases = [] }) => [name, ...aliases])
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(new URL('../gateway.schema.json', import.meta.url), renderConfigSchema())
}
