import { maskSecrets, maskUrl } from '../wire/mask.ts'
import type { LoadedConfig } from './load.ts'
import { formatPath, type Path } from './problem.ts'
import { isTable } from './toml.ts'

export type Origin = 'file' | 'environment' | 'default'

/** A setting in force. */
export interface TracedSetting {
  /** The dotted name, for example `providers[0].models[0].id`. */
  readonly setting: string
  /** Credentials in it are masked. */
  readonly value: unknown
  readonly origin: Origin
  /** The variable that set it; only for `environment`. */
  readonly variable?: string
}

/** Lists every setting of a valid configuration with its value and its origin. */
export function traceSettings({ config, set, origins }: Traced): readonly TracedSetting[] {
  return walkSettings([], config).map(([path, value]) => {
    const setting = formatPath(path)
    const shown = { setting, value: maskSetting(setting, value) }
    const variable = origins.get(setting)
    if (variable !== undefined) return { ...shown, origin: 'environment', variable }
    return { ...shown, origin: isSet(path, set) ? 'file' : 'default' }
  })
}

/** The parts of a loaded configuration that its settings are listed from. */
export type Traced = Pick<LoadedConfig, 'config' | 'set' | 'origins'>

function walkSettings(path: Path, value: unknown): (readonly [Path, unknown])[] {
  if (value === undefined) return []
  if (Array.isArray(value) && value.some(isTable)) {
    return value.flatMap((entry, at) => walkSettings([...path, at], entry))
  }
  if (!isTable(value)) return [[path, value]]
  return Object.entries(value).flatMap(([name, member]) => walkSettings([...path, name], member))
}

function isSet(path: Path, set: unknown): boolean {
  return path.reduce<unknown>((table, part) => Reflect.get(Object(table), part), set) !== undefined
}

/** The settings with an address whose path is a credential, as that of an incoming webhook of Slack. */
const secretPaths: ReadonlySet<string> = new Set(['webhooks.url'])

function maskSetting(setting: string, value: unknown): unknown {
  if (typeof value === 'string' && secretPaths.has(setting)) {
    const shown = maskUrl(value)
    return value === shown ? shown : `${shown}/***`
  }
  return maskValue(value)
}

/** Hides what looks like a credential: in an address the user, the password and the query. */
function maskValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskValue)
  if (typeof value !== 'string') return value
  const address = value
    .replace(/^([a-z][\w+.-]*:\/\/)[^/?#]*@/i, '$1***@')
    .replace(/^([a-z][\w+.-]*:\/\/[^?#]*\?).+$/i, '$1***')
  return maskSecrets(address)
}
