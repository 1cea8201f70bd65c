import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** The catalogues that the table is made from, as their packages have them. */
export interface Catalogues {
  readonly litellm: unknown
  readonly genaiPrices: unknown
  readonly versions: { readonly litellm: string; readonly genaiPrices: string }
  /** The folder with both packages, for Python. */
  readonly folder: string
}

const folder = 'node_modules/.cache/prices'

/** Installs the newest versions of both packages from the configured registry, and reads their prices. */
export function fetchCatalogues(): Catalogues {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const pip = (...args: readonly string[]) =>
    execFileSync('python3', ['-m', 'pip', '--quiet', ...args], { stdio: 'inherit' })
  pip('install', '--target', folder, 'genai-prices', 'litellm')
  return readCatalogues()
}

/** Reads the catalogues that `fetchCatalogues` has installed. */
export function readCatalogues(): Catalogues {
  const file = join(folder, 'litellm/model_prices_and_context_window_backup.json')
  const dumped = execFileSync('python3', ['scripts/prices/dump.py', folder], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  return {
    litellm: JSON.parse(readFileSync(file, 'utf8')),
    genaiPrices: JSON.parse(dumped),
    versions: { litellm: readVersion('litellm'), genaiPrices: readVersion('genai_prices') },
    folder,
  }
}

function readVersion(name: string): string {
  const info = readdirSync(folder).find((each) => each.startsWith(`${name}-`))
  const version = info?.slice(name.length + 1, -'.dist-info'.length)
  if (version === undefined) throw new Error(`${name} is not installed in ${folder}`)
  return version
}
