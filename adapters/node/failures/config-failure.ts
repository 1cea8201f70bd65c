import { type Problem, renderFileProblem } from '../../../src/config/index.ts'
import { CommandFailure } from './command-failure.ts'

/** Returns the failure of a command whose configuration is invalid. `file`: its name; undefined when it is none. */
export function toConfigFailure(
  problems: readonly Problem[],
  file: string | undefined,
): CommandFailure {
  return new CommandFailure(2, ...problems.map((problem) => renderFileProblem(problem, file)))
}
