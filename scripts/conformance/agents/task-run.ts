import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../command.ts'
import type { Outcome } from '../sdks/checks.ts'
import { taskFile, taskPrompt, taskSentence, taskText } from '../upstream/task.ts'

/** The folders of one run. */
export interface TaskFolders {
  /** Where the agent works. */
  readonly work: string
  /** Where its settings are. */
  readonly home: string
}

export interface TaskCommand {
  readonly line: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
}

/**
 * Gives an agent the task in an empty folder. It passes when the agent ends with 0, says what the
 * file holds, and the file has the text.
 */
export async function runTask(
  toCommand: (prompt: string, folders: TaskFolders) => TaskCommand,
): Promise<readonly Outcome[]> {
  const root = mkdtempSync(join(tmpdir(), 'conformance-'))
  const folders = { work: join(root, 'work'), home: join(root, 'home') }
  for (const folder of Object.values(folders)) mkdirSync(folder)
  const { line, env } = toCommand(taskPrompt(folders.work), folders)
  const { code, stdout, stderr } = await runCommand(line, {
    cwd: folders.work,
    env: { HOME: folders.home, ...env },
    limit: 120_000,
  })
  const written = readText(join(folders.work, taskFile))
  rmSync(root, { recursive: true })
  if (code === 0 && stdout.includes(taskSentence) && written === `${taskText}\n`)
    return [{ check: 'task' }]
  const said = `${stdout.slice(-600)} ${stderr.slice(-600)}`.trim()
  return [{ check: 'task', problem: `it ended with ${code}, the file holds ${written}: ${said}` }]
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
