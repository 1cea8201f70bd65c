import { fileURLToPath } from 'node:url'

/** Returns the path of a command of the pinned packages. */
export function findExecutable(name: string): string {
  return fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url))
}
