import type { Conversation, Part } from './conversation.ts'
import { isRecord, sampleValue } from './json-schema.ts'
import { call, say } from './parts.ts'

/** The tools of agents that can take a step, best first, each with the input for a path. */
export type Step = Readonly<Record<string, (path: string) => object>>

/** Tools that run a command. */
export function runners(command: (path: string) => string): Step {
  return {
    Bash: (path) => ({ command: command(path), description: 'Works on the file' }),
    bash: (path) => ({ command: command(path) }),
    exec_command: (path) => ({ cmd: command(path) }),
    shell: (path) => ({ command: ['bash', '-lc', command(path)] }),
    shell_command: (path) => ({ command: command(path) }),
    run_command: (path) => ({ command: command(path) }),
    exec: (path) => ({ input: toScript(command(path)) }),
  }
}

/** Codex offers newer models a tool that runs JavaScript, which calls the other tools. */
function toScript(cmd: string): string {
  return `const { output } = await tools.exec_command(${JSON.stringify({ cmd })}); text(output)`
}

/** Finds the path of a file in the words of the user. */
export function findPath({ turns }: Conversation, file: string): string | undefined {
  const texts = turns.flatMap((turn) => (turn.role === 'user' ? [turn.text] : []))
  return new RegExp(`/\\S*/${file}`).exec(texts.join('\n'))?.[0]
}

/** How many turns with calls the model has taken. */
export function countSteps({ turns }: Conversation): number {
  return turns.filter((turn) => turn.role === 'model' && turn.calls.length > 0).length
}

/** Takes steps at once, each with the best tool on offer. */
export function useTools({ tools }: Conversation, steps: readonly Step[], path: string): Part[] {
  return steps.map((step) => {
    for (const [name, toInput] of Object.entries(step)) {
      const tool = tools.find((each) => isNamed(each.name, name))
      if (!tool) continue
      const required = sampleValue(tool.schema)
      return call(tool.name, { ...(isRecord(required) && required), ...toInput(path) })
    }
    const offered = tools.map((tool) => tool.name).join(', ')
    return say(`No tool can take the step; on offer are ${offered}.`)
  })
}

/** A gateway may put a namespace before the name of a tool. */
function isNamed(name: string, wanted: string): boolean {
  return name === wanted || name.endsWith(`_${wanted}`) || name.endsWith(`.${wanted}`)
}
