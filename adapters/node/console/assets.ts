import { readFile } from 'node:fs/promises'

interface Asset {
  readonly type: string
  readonly bytes: Uint8Array
}

/** The files of the page by their path. */
export type Assets = ReadonlyMap<string, Asset>

const files = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/console.js', 'console.js', 'text/javascript; charset=utf-8'],
  ['/console.css', 'console.css', 'text/css; charset=utf-8'],
  ['/icon.svg', 'icon.svg', 'image/svg+xml'],
] as const

/** Reads the built page. Rejects when a file is missing. */
export async function readAssets(folder: URL): Promise<Assets> {
  const entries = files.map(async ([path, file, type]) => {
    return [path, { type, bytes: await readFile(new URL(file, folder)) }] as const
  })
  return new Map(await Promise.all(entries))
}
