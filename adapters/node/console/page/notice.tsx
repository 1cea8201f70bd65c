import { signal } from '@preact/signals'

interface Note {
  readonly text: string
  /** What takes the change back; undefined for one that cannot be. */
  readonly undo: (() => void) | undefined
}

const note = signal<Note | undefined>(undefined)

/** Says at the foot of the page what was done, until it is dismissed or something else is. */
export function notify(text: string, undo?: () => void): void {
  note.value = { text, undo }
}

/** Copies a text, and says that it did. `what` begins the sentence. */
export async function copy(text: string, what: string): Promise<void> {
  await navigator.clipboard.writeText(text).then(
    () => notify(`${what} copied`),
    () => notify(`The browser did not allow to copy: ${text}`),
  )
}

/** The last thing that was done. */
export function Notice() {
  const { value: shown } = note
  const dismiss = () => (note.value = undefined)
  const undo = () => {
    dismiss()
    shown?.undo?.()
  }
  return (
    <div class="notice" role="status">
      {shown && (
        <p class="panel">
          <span>{shown.text}</span>
          {shown.undo && (
            <button type="button" class="link" onClick={undo}>
              Undo
            </button>
          )}
          <button type="button" class="ghost" aria-label="Dismiss" onClick={dismiss}>
            ✕
          </button>
        </p>
      )}
    </div>
  )
}
