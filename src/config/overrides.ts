import { nearestName } from '../core/nearest-name.ts'
import type { Environment } from '../core/ports.ts'
import { parseLenient } from './lenient.ts'
import { type Finding, formatPath } from './problem.ts'
import { getTopLevelForm, plainSettings, type SettingType } from './schema-tree.ts'
import { isTable, type Table } from './toml.ts'

/** The settings of the file with the overrides of the environment. */
interface Overridden {
  readonly table: Table
  /** The variables that override settings, by the name of the setting. */
  readonly origins: ReadonlyMap<string, string>
  readonly findings: readonly Finding[]
}

/** Overrides settings of the file with variables such as `GATEWAY_SERVER__PORT`. */
export function applyOverrides(file: Table, env: Environment): Overridden {
  // An empty variable counts as unset, as for keys.
  const variables = Object.keys(env)
    .filter((name) => name.startsWith(prefix) && env[name])
    .sort()
  const keysInFile = listKeyVariables(file)
  let table = file
  const origins = new Map<string, string>()
  for (const variable of variables) {
    const setting = settings.get(variable)
    if (setting === undefined || keysInFile.has(variable)) continue
    table = setValue(table, setting.path, parseValue(env[variable] ?? '', setting.shape))
    origins.set(formatPath(setting.path), variable)
  }

  const port = keysInFile.has('PORT') ? undefined : readPlatformPort(table, env)
  if (port !== undefined) {
    table = setValue(table, portPath, parseValue(port, 'number'))
    origins.set(formatPath(portPath), 'PORT')
  }

  // Last, because an override may itself name a variable that holds a key.
  const keys = listKeyVariables(table)
  const findings = variables
    .filter((name) => !settings.has(name) && !reserved.has(name) && !keys.has(name))
    .filter((name) => !isServiceLink(name, env[name] ?? ''))
    .map(unknownVariable)
  return { table, origins, findings }
}

const portPath = ['server', 'port']

/** Returns the `PORT` that hosting platforms set, unless the file or an override has the port. */
function readPlatformPort({ server = {} }: Table, { PORT: port }: Environment): string | undefined {
  if (!isTable(server) || server['port'] !== undefined) return undefined
  // IIS sets the name of a pipe, on which only an application that embeds the gateway can listen.
  return port === undefined || port === '' || port.startsWith('\\\\.\\pipe\\') ? undefined : port
}

const prefix = 'GATEWAY_'

/** Variables that are not settings. */
const reserved = new Set([
  'GATEWAY_MASTER_KEY',
  'GATEWAY_MASTER_KEY_OLD',
  'GATEWAY_LOG_LEVEL',
  'GATEWAY_DB_AUTH_TOKEN',
])

const settings = new Map(
  plainSettings.map((setting) => [prefix + setting.path.join('__').toUpperCase(), setting]),
)

function listKeyVariables(table: Table): Set<string | undefined> {
  const { providers, shared, webhooks } = parseLenient(table)
  return new Set([
    ...providers.flatMap((provider) => [provider.api_key_env, ...provider.api_key_envs]),
    shared?.url_env,
    webhooks?.signing_key_env,
  ])
}

/** True for the variables that Kubernetes sets for a service whose name begins with `gateway`. */
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
  const form = getTopLevelForm(top)
  if (form === 'array of tables') {
    return {
      path,
      message: `${top} cannot be overridden by a variable: set its entries in the file`,
    }
  }
  if (form === 'table' && name.length === top.length) {
    return { path, message: `${top} is a table: name one of its settings after "__"` }
  }
  const candidates = [...settings.keys()].map((candidate) => candidate.slice(prefix.length))
  const nearest = nearestName(name, candidates)
  return {
    path,
    message: 'is not the name of a setting',
    suggestion: nearest === undefined ? undefined : prefix + nearest,
  }
}

/** Parses the text of a variable. A malformed value stays text, which the schema rejects. */
function parseValue(text: string, shape: SettingType): unknown {
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

/** Unlike `Number`, this does not accept `0x50` or ` 8`. */
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

/** Copies the table with one value set. A malformed table on the path stays, for the schema to reject. */
function setValue(table: Table, [name, ...rest]: readonly string[], value: unknown): Table {
  if (name === undefined) return table
  if (rest.length === 0) return { ...table, [name]: value }
  const inner = table[name] === undefined ? {} : table[name]
  return isTable(inner) ? { ...table, [name]: setValue(inner, rest, value) } : table
}
