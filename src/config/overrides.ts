import { nearestName } from '../core/nearest-name.ts'
import type { Environment } from '../core/ports.ts'
import { parseLenient } from './lenient.ts'
import { type Finding, formatPath } from './problem.ts'
import { plainSettings, type Shape, topLevelForm } from './schema-tree.ts'
import { isTable, type Table } from './toml.ts'

/** The file's content with the environment's on top. */
interface Overridden {
  readonly table: Table
  /** The variable that each overridden setting came from. */
  readonly origins: ReadonlyMap<string, string>
  readonly findings: readonly Finding[]
}

/** Puts the variables that name a setting, as `GATEWAY_SERVER__PORT` does, over the file's values. */
export function applyOverrides(file: Table, env: Environment): Overridden {
  // An empty variable counts as unset, as it does for keys.
  const variables = Object.keys(env)
    .filter((name) => name.startsWith(prefix) && env[name])
    .sort()
  const sourcesInFile = listKeyVariables(file)
  let table = file
  const origins = new Map<string, string>()
  for (const variable of variables) {
    const setting = settings.get(variable)
    if (setting === undefined || sourcesInFile.has(variable)) continue
    table = setValue(table, setting.path, parseValue(env[variable] ?? '', setting.shape))
    origins.set(formatPath(setting.path), variable)
  }

  // Judged last: an override may have named one more variable as a key's source.
  const sources = listKeyVariables(table)
  const findings = variables
    .filter((name) => !settings.has(name) && !reserved.has(name) && !sources.has(name))
    .filter((name) => !isServiceLink(name, env[name] ?? ''))
    .map(unknownVariable)
  return { table, origins, findings }
}

const prefix = 'GATEWAY_'

/** Variables of the process itself: they are no part of the configuration. */
const reserved = new Set(['GATEWAY_MASTER_KEY', 'GATEWAY_LOG_LEVEL', 'GATEWAY_DB_AUTH_TOKEN'])

const settings = new Map(
  plainSettings.map((setting) => [prefix + setting.path.join('__').toUpperCase(), setting]),
)

function listKeyVariables(table: Table): Set<string | undefined> {
  const { providers, webhooks } = parseLenient(table)
  return new Set([...providers.map((provider) => provider.api_key_env), webhooks?.signing_key_env])
}

/** Kubernetes sets such variables in every pod beside a service whose name begins with `gateway`. */
function isServiceLink(variable: string, value: string): boolean {
  return (
    /_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z\d_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_[A-Z]+)?)$/.test(
      variable,
    ) ||
    (variable.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value))
  )
}

function unknownVariable(variable: string): Finding {
  const path = [variable]
  const name = variable.slice(prefix.length)
  const [top = ''] = name.toLowerCase().split('__')
  const form = topLevelForm(top)
  if (form === 'array of tables') {
    return { path, message: `no variable can override ${top}: its entries are set in the file` }
  }
  if (form === 'table' && name.length === top.length) {
    return { path, message: `${top} is a table: a variable names one of its settings, after "__"` }
  }
  const candidates = [...settings.keys()].map((candidate) => candidate.slice(prefix.length))
  const nearest = nearestName(name, candidates)
  return {
    path,
    message: 'names no setting',
    suggestion: nearest === undefined ? undefined : prefix + nearest,
  }
}

/** The value that a text stands for. What cannot be understood stays text, for the schema to refuse. */
function parseValue(text: string, shape: Shape): unknown {
  switch (shape) {
    case 'text':
      return text
    case 'number':
      return plainDecimal.test(text) ? Number(text) : text
    case 'boolean':
      return /^(?:true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text
    case 'list of texts':
      return parseList(text) ?? text
    case 'list of numbers':
      return (
        parseList(text)?.map((entry) =>
          typeof entry === 'string' ? parseValue(entry, 'number') : entry,
        ) ?? text
      )
    default:
      return shape satisfies never
  }
}

/** JavaScript reads `0x50` and ` 8` as numbers too; a person who writes them means neither. */
const plainDecimal = /^[+-]?\d+(?:\.\d+)?$/

function parseList(text: string): readonly unknown[] | undefined {
  if (!text.trimStart().startsWith('[')) {
    const entries = text.split(',').map((entry) => entry.trim())
    return entries.filter((entry) => entry !== '')
  }
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list : undefined
  } catch {
    return undefined
  }
}

/** A copy of the table with one value set. A malformed table on the way is left for the schema. */
function setValue(table: Table, [name, ...rest]: readonly string[], value: unknown): Table {
  if (name === undefined) return table
  if (rest.length === 0) return { ...table, [name]: value }
  const inner = table[name] === undefined ? {} : table[name]
  return isTable(inner) ? { ...table, [name]: setValue(inner, rest, value) } : table
}
