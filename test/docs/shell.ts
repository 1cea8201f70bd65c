import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Block {
  /** The text after the opening fence. */
  readonly info: string
  readonly text: string
}

/** Returns the fenced blocks of a page. */
export function blocksOf(page: string): readonly Block[] {
  const fences = readFileSync(page, 'utf8').matchAll(/^```(.+)\n([^]*?)^```$/gm)
  return [...fences].map(([, info = '', text = '']) => ({ info, text }))
}

export interface Shell {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The gateway's address, which replaces the one in the examples. */
  readonly address: string
  /** Further texts to replace, with their replacements. */
  readonly replace?: Readonly<Record<string, string>>
}

/** Runs the shell examples of a page as one session; resolves to the output of each. */
export async function session(page: string, shell: Shell): Promise<string[]> {
  const { cwd, env, address, replace = {} } = shell
  const mark = '--- the next example'
  const blocks = blocksOf(page).filter(({ info }) => info === 'sh')
  let script = blocks.map(({ text }) => text).join(`echo; echo '${mark}'\n`)
  for (const [text, by] of Object.entries({ ...replace, 'http://127.0.0.1:8080': address })) {
    script = script.replaceAll(text, by)
  }
  const { stdout } = await run('bash', ['-eo', 'pipefail', '-c', script], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
  })
  return stdout.split(`\n${mark}\n`)
}
