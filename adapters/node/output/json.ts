import { print } from '../process/print.ts'

/** Prints a value as indented JSON. */
export function printJson(value: unknown): Promise<void> {
  return print(JSON.stringify(value, null, 2))
}
