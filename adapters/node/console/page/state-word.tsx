export interface StateProps {
  readonly color: 'good' | 'warn' | 'bad' | 'none'
  readonly word: string
}

/** A state in a word, with a mark beside it whose color and shape say the same. */
export function State({ color, word }: StateProps) {
  return (
    <span class={`state ${color}`}>
      <span class={`dot ${color}`} />
      {word}
    </span>
  )
}
