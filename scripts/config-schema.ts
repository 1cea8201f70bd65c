import { readFileSync, writeFileSync } from 'node:fs'
import * as z from 'zod'
import { configSchema } from '../src/config/schema.ts'
import { kinds } from '../src/providers/index.ts'
import { renderConfigPage, type SettingNode } from './config-page.ts'

/*
 * Writes what follows from the settings in src/config: the JSON Schema of the configuration file to
 * gateway.schema.json, and the tables of docs/settings.md. `npm run schema`.
 */

const schemaFile = new URL('../gateway.schema.json', import.meta.url)
const pageFile = new URL('../docs/settings.md', import.meta.url)

/** A table of the schema, with the rules that are added to it. */
interface RuledTable extends SettingNode {
  anyOf?: readonly SettingNode[]
  dependencies?: Readonly<Record<string, object>>
}

/**
 * Returns the text of the schema, in draft 7, which editors read. The schema accepts everything that the gateway
 * accepts, and some things that it does not: rules that join several settings, and those about URLs.
 */
export function renderConfigSchema(): string {
  const schema = describeSettings(toPlainText)
  addKindRules(schema.properties?.['providers']?.items as RuledTable)
  const { $schema, ...rest } = { $schema: '', ...schema }
  const title = 'Model Gateway configuration'
  return `${JSON.stringify({ $schema, title, ...rest }, null, 2)}\n`
}

/** Returns the page with the tables of today's settings. */
export function renderPage(): string {
  return renderConfigPage(
    readFileSync(pageFile, 'utf8'),
    describeSettings((text) => text),
  )
}

/** Returns the settings as a JSON Schema; throws when one has no description. */
function describeSettings(toText: (markdown: string) => string): SettingNode {
  const schema = z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-7',
    override: ({ jsonSchema }) => {
      if (jsonSchema.description !== undefined) {
        jsonSchema.description = toText(jsonSchema.description)
      }
    },
  }) as SettingNode
  requireDescriptions(schema, [])
  return schema
}

/** Replaces links by their text, because they are relative to the page. */
function toPlainText(markdown: string): string {
  return markdown.replace(/\[((?:`[^`]*`|[^\]])+)\]\([^)]+\)/g, '$1')
}

function requireDescriptions(table: SettingNode, path: readonly string[]): void {
  for (const [name, setting] of Object.entries(table.properties ?? {})) {
    const at = [...path, name]
    const items = Array.isArray(setting.items) ? undefined : (setting.items as SettingNode)
    if ((setting.description ?? items?.description) === undefined) {
      throw new Error(`${at.join('.')} has no description`)
    }
    requireDescriptions(items ?? setting, at)
  }
}

/** Adds the rules of each kind: its name, the need of an address, and the settings it has. */
function addKindRules(provider: RuledTable): void {
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
  writeFileSync(schemaFile, renderConfigSchema())
  writeFileSync(pageFile, renderPage())
}
