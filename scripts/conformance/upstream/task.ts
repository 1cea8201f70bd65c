import type { Conversation, Part } from './conversation.ts'
import { say } from './parts.ts'
import { countSteps, findPath, runners, type Step, useTools } from './steps.ts'

/** The file that the task writes. */
export const taskFile = 'note.txt'

/** The text that the task writes: one line, with characters that a shell or an encoding could harm. */
export const taskText = `Grüße: "7 × 6" = 42 ✓ it's $HOME`

/** The task for an agent that works in `directory`. Its path leads the model to the file. */
export function taskPrompt(directory: string): string {
  return (
    `Create the file ${directory}/${taskFile} with the text ${JSON.stringify(taskText)}, ` +
    'count its bytes with wc, read the file back, and say what it holds.'
  )
}

/** The last sentence of an agent that read the right text. */
export const taskSentence = `The file holds: ${taskText}`

const quoted = `'${taskText.replaceAll("'", `'\\''`)}'`

const write: Step = {
  Write: (path) => ({ file_path: path, content: `${taskText}\n` }),
  write_file: (path) => ({ path, file_path: path, content: `${taskText}\n` }),
  apply_patch: (path) => ({ input: toPatch(path) }),
  ...runners((path) => `printf '%s\\n' ${quoted} > ${path}`),
}

const count: Step = runners((path) => `wc -c ${path}`)

const read: Step = {
  Read: (path) => ({ file_path: path }),
  read_file: (path) => ({ path, file_path: path }),
  ...runners((path) => `cat ${path}`),
}

/**
 * A tool of a server that agents are given: without parameters, and with a name that is over the limit of most
 * vendors once the agent has put the name of the server before it.
 */
export const clockTool = 'read_the_clock_of_the_registry_in_the_time_zone_of'

/** A name that was shortened on its way keeps its beginning. */
const clockMark = 'read_the_clock'

/** Each turn takes its steps at once. */
function listTurns({ tools }: Conversation): readonly (readonly Step[])[] {
  const clock = tools.find(({ name }) => name.includes(clockMark))
  const ask: readonly Step[] = clock ? [{ [clock.name]: () => ({}) }] : []
  return [[write], [...ask, count], [read], [count, read]]
}

/** Takes the next turn of the task. */
export function planTask(conversation: Conversation): Part[] {
  const path = findPath(conversation, taskFile)
  // Agents also ask for titles and summaries, without tools.
  if (path === undefined || conversation.tools.length === 0) return [say('A note')]
  const steps = listTurns(conversation)[countSteps(conversation)]
  return steps ? useTools(conversation, steps, path) : [conclude(conversation)]
}

function conclude({ turns: past }: Conversation): Part {
  const last = past.at(-1)
  const results = last?.role === 'user' ? last.results.map(({ text }) => text) : []
  const isRead = results.some((text) => text.includes(taskText))
  return say(isRead ? taskSentence : `The file does not hold the text: ${results.join(' ')}`)
}

/** The form of Codex: https://github.com/openai/codex/blob/main/codex-rs/apply-patch */
function toPatch(path: string): string {
  return `*** Begin Patch\n*** Add File: ${path}\n+${taskText}\n*** End Patch\n`
}
