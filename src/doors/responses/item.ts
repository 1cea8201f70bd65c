/** Writes one event of the stream: its type and its other members. */
export type Emit = (type: string, members: object) => void

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** An item of the output as it grows. Its events go to the `Emit` of its creation. */
export interface OutputItem {
  /** Closes the parts that are still open. */
  close(): void
  render(status: ItemStatus): object
}

/** What every item needs of its response. */
export interface ItemContext {
  readonly emit: Emit
  readonly outputIndex: number
  readonly id: string
}
