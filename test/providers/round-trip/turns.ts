/** One turn of a request to a vendor. */
export interface Turn<Item> {
  readonly role: string
  readonly content: string | readonly Item[]
}

/** Lists the blocks of a content, which may be a plain string. */
export function listBlocks<Item>(content: string | readonly Item[]): readonly Item[] {
  // A text block is an item of every such list.
  return typeof content === 'string' ? [{ type: 'text', text: content } as Item] : content
}
