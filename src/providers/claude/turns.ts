import type { ClaudeBlock } from './cache-marks.ts'

/** A message in the vendor's form. */
export interface Turn {
  /** `system` only at Anthropic, between a user and an assistant. */
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: readonly ClaudeBlock[]
}

export interface TurnRules<Each extends Turn> {
  /** Orders the blocks of a user's turn as the vendor requires. */
  readonly arrange: (blocks: readonly ClaudeBlock[]) => readonly ClaudeBlock[]
  /** The user turn in front of a conversation that has none, or that the assistant opens. */
  readonly opening: Each
}

/**
 * Brings turns into the form that both vendors require: none is empty, roles alternate, the user
 * opens, and a prefill does not end in white space.
 */
export function alternateTurns<Each extends Turn>(
  turns: readonly Each[],
  { arrange, opening }: TurnRules<Each>,
): readonly Each[] {
  const groups = groupByRole(turns.filter(({ content }) => content.length > 0))
  const merged = groups.map((group) => {
    const content = mergeContent(group)
    return { ...group[0], content: group[0].role === 'user' ? arrange(content) : content }
  })
  const opened = merged[0]?.role === 'user' ? merged : [opening, ...merged]
  return [...opened.slice(0, -1), ...opened.slice(-1).map(trimPrefill)]
}

/** Groups neighbours of the same role: the results of parallel calls must be in one message. */
function groupByRole<Each extends Turn>(turns: readonly Each[]): [Each, ...Each[]][] {
  const groups: [Each, ...Each[]][] = []
  for (const turn of turns) {
    const group = groups.at(-1)
    if (group?.[0].role === turn.role) group.push(turn)
    else groups.push([turn])
  }
  return groups
}

function mergeContent(group: readonly [Turn, ...Turn[]]): readonly ClaudeBlock[] {
  return group.length === 1 ? group[0].content : group.flatMap(({ content }) => content)
}

/**
 * "final assistant content cannot end with trailing whitespace":
 * https://github.com/tailcallhq/forgecode/issues/1872
 */
function trimPrefill<Each extends Turn>(turn: Each): Each {
  const last = turn.content.at(-1)
  const text = last?.['text']
  if (turn.role !== 'assistant' || typeof text !== 'string') return turn
  return { ...turn, content: [...turn.content.slice(0, -1), { ...last, text: text.trimEnd() }] }
}
