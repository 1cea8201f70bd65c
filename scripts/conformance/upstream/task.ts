import type { Conversation, Part, Tool } from './conversation.ts'
import { isRecord, sampleValue } from './json-schema.ts'
import { call, say } from './parts.ts'

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

interface Step {
  /** The names of tools that can do this, best first, each with the input for a file. */
  readonly tools: Readonly<Record<string, (path: string) => object>>
}

const quoted = `'${taskText.replaceAll("'", `'\\''`)}'`
const writeCommand = (path: string) => `printf '%s\\n' ${quoted} > ${path}`
const countCommand = (path: string) => `wc -c ${path}`
const readCommand = (path: string) => `cat ${path}`

/** Tools that run a command, with the form of their input. */
const runners = (command: (path: string) => string): Step['tools'] => ({
  Bash: (path) => ({ command: command(path), description: 'Works on the note' }),
  bash: (path) => ({ command: command(path) }),
  exec_command: (path) => ({ cmd: command(path) }),
  shell: (path) => ({ command: ['bash', '-lc', command(path)] }),
  shell_command: (path) => ({ command: command(path) }),
  run_command: (path) => ({ command: command(path) }),
  exec: (path) => ({ input: toScript(command(path)) }),
})

/** Codex offers newer models a tool that runs JavaScript, which calls the other tools. */
const toScript = (cmd: string) =>
  `const { output } = await tools.exec_command(${JSON.stringify({ cmd })}); text(output)`

const patch = (path: string) =>
  ['*** Begin Patch', `*** Add File: ${path}`, `+${taskText}`, '*** End Patch', ''].join('\n')

const steps: readonly Step[] = [
  {
    tools: {
      Write: (path) => ({ file_path: path, content: `${taskText}\n` }),
      write_file: (path) => ({ path, content: `${taskText}\n` }),
      apply_patch: (path) => ({ input: patch(path) }),
      ...runners(writeCommand),
    },
  },
  { tools: runners(countCommand) },
  {
    tools: {
      Read: (path) => ({ file_path: path }),
      read_file: (path) => ({ path }),
      ...runners(readCommand),
    },
  },
]

/** The next step of the task: as many steps are done as calls have results. */
export function planTask({ turns, tools }: Conversation): Part[] {
  const results = turns.flatMap((turn) => (turn.role === 'user' ? turn.results : []))
  const texts = turns.flatMap((turn) => (turn.role === 'user' ? [turn.text] : []))
  const path = new RegExp(`/\\S*/${taskFile}`).exec(texts.join('\n'))?.[0]
  // Agents also ask for titles and summaries, without tools.
  if (path === undefined || tools.length === 0) return [say('A note')]
  const step = steps[results.length]
  if (!step) return [say(concludeTask(results.at(-1)?.text ?? ''))]
  for (const [name, toInput] of Object.entries(step.tools)) {
    const tool = tools.find((each) => isNamed(each, name))
    if (!tool) continue
    const required = sampleValue(tool.schema)
    return [call(tool.name, { ...(isRecord(required) && required), ...toInput(path) })]
  }
  return [say(`No tool can do step ${results.length + 1}: ${tools.map((t) => t.name).join(', ')}`)]
}

function concludeTask(read: string): string {
  return read.includes(taskText) ? taskSentence : `The file does not hold the text: ${read}`
}

/** A gateway may put a namespace before the name of a tool. */
function isNamed({ name }: Tool, wanted: string): boolean {
  return name === wanted || name.endsWith(`__${wanted}`) || name.endsWith(`.${wanted}`)
}
