/** The states of a circuit, the worst first. */
const states = ['open', 'half-open', 'closed']

/** Returns the worse state of the circuits of a link in two processes. */
export function findWorseCircuit(a: string, b: string): string {
  return states.indexOf(a) <= states.indexOf(b) ? a : b
}
