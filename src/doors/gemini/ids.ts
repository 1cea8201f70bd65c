/** Creates the id of an answer. */
export function newResponseId(): string {
  return `resp_${crypto.randomUUID().replaceAll('-', '')}`
}
