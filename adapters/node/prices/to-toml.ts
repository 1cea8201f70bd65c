import type { PriceEntrySettings } from './settings.ts'

type Pairs = readonly (readonly [key: string, value: string])[]

/** Writes an entry as keys and values of TOML: first its conditions, then its prices. */
export function toPairs(entry: PriceEntrySettings): Pairs {
  return Object.entries(entry).map(([key, value]) => [key, toToml(value)])
}

/** Writes a setting of prices as TOML. Dates are written as dates. */
export function toToml(value: unknown): string {
  if (typeof value === 'string') {
    return /^\d{4}-\d\d-\d\d$/.test(value) ? value : JSON.stringify(value)
  }
  if (Array.isArray(value)) return `[${value.map(toToml).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([key, own]) => `${key} = ${toToml(own)}`)
    return `{ ${pairs.join(', ')} }`
  }
  return String(value)
}
