import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Finished, runCommand } from '../command.ts'
import type { Kind } from '../kinds.ts'
import type { Outcome } from '../sdks/checks.ts'
import { picture, pictureFile, picturePrompt, pictureSentence } from '../upstream/picture.ts'
import { taskFile, taskPrompt, taskSentence, taskText } from '../upstream/task.ts'

/** What an agent is started with. */
export interface TaskInput {
  /** The scenario of its model. */
  readonly scenario: string
  readonly prompt: string
  /** Where its settings are. */
  readonly home: string
}

export interface TaskCommand {
  readonly line: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
}

type ToCommand = (input: TaskInput) => TaskCommand

/** Gives an agent each task in an empty folder of its own. */
export async function runTasks(
  { takesImages }: Kind,
  toCommand: ToCommand,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const task of takesImages ? [writeTask, pictureTask] : [writeTask]) {
    const root = mkdtempSync(join(tmpdir(), 'conformance-'))
    outcomes.push(await runTask({ task, toCommand, root }))
    rmSync(root, { recursive: true })
  }
  return outcomes
}

interface Task {
  readonly scenario: string
  prepare(work: string): void
  prompt(work: string): string
  /** What the agent must say. */
  readonly sentence: string
  /** Describes what is wrong with the files of the agent. */
  findProblem(work: string): string | undefined
}

const writeTask: Task = {
  scenario: 'task',
  prepare: () => undefined,
  prompt: taskPrompt,
  sentence: taskSentence,
  findProblem(work) {
    const written = readText(join(work, taskFile))
    return written === `${taskText}\n` ? undefined : `the file holds ${written}`
  },
}

const pictureTask: Task = {
  scenario: 'picture',
  prepare: (work) => writeFileSync(join(work, pictureFile), picture),
  prompt: picturePrompt,
  sentence: pictureSentence,
  findProblem: () => undefined,
}

interface TaskRun {
  readonly task: Task
  readonly toCommand: ToCommand
  readonly root: string
}

/** In milliseconds. */
const taskLimit = 120_000

/** A task passes when the agent ends with 0, says the sentence, and its files are right. */
async function runTask({ task, toCommand, root }: TaskRun): Promise<Outcome> {
  const [work, home] = [join(root, 'work'), join(root, 'home')]
  for (const folder of [work, home]) mkdirSync(folder)
  task.prepare(work)
  const { scenario } = task
  const { line, env } = toCommand({ scenario, prompt: task.prompt(work), home })
  const finished = await runCommand(line, {
    cwd: work,
    env: { HOME: home, ...env },
    limit: taskLimit,
  })
  const problem = findProblem(finished, task.sentence) ?? task.findProblem(work)
  return { check: scenario, ...(problem !== undefined && { problem }) }
}

function findProblem({ failure, stdout, stderr }: Finished, sentence: string): string | undefined {
  if (failure === undefined && stdout.includes(sentence)) return undefined
  const end = failure === undefined ? 'it did not say the sentence' : `it ended with ${failure}`
  return `${end}: ${stdout.slice(-600)} ${stderr.slice(-600)}`
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
