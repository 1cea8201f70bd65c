import { useSignal } from '@preact/signals'

interface CopyButtonProps {
  readonly text: string
  /** What is copied, for those who cannot see it. */
  readonly name: string
}

/** Copies a text, and says whether it could. */
export function CopyButton({ text, name }: CopyButtonProps) {
  const word = useSignal('Copy')
  const copy = async (event: Event) => {
    // The row around it opens and closes by clicks.
    event.stopPropagation()
    word.value = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Not allowed',
    )
  }
  return (
    <button type="button" class="quiet small" onClick={copy} aria-live="polite">
      {word}
      <span class="visually-hidden"> {name}</span>
    </button>
  )
}
